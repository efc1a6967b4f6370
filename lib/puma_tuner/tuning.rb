# frozen_string_literal: true

module PumaTuner
  # The whole arrow's outcome: what `puma_tuner tune` found, in one document.
  #
  # command: to repeat it; recorded_at: ISO 8601
  # verdict: nil without a proof; unproven: an Unknown, why one that was wanted is not there; nil when none was wanted
  # checks: Array<AdviceCheck>, of `advise --prove`, which proves each advice by itself; nil of a tuning
  Tuning = Document.define(:command, :recorded_at, :observation, :machine, :workload, :sweep, :advice_list, :verdict,
    :unproven, :checks, kind: :tuning, added: %i[checks],
    nested: {observation: Probe::Observation, machine: Model::Machine, workload: Model::Workload, sweep: Predict::Sweep,
             advice_list: Advise::AdviceList, verdict: Prove::Verdict, unproven: Unknown, checks: [AdviceCheck]}) do
    def initialize(unproven: nil, checks: nil, **fields) = super
  end
end
