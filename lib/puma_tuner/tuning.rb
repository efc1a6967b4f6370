# frozen_string_literal: true

module PumaTuner
  # The whole arrow's outcome: what `puma_tuner tune` found, in one document.
  #
  # command: to repeat it; recorded_at: ISO 8601
  # verdict: nil without a proof; unproven: an Unknown, why one that was wanted is not there; nil when none was wanted
  Tuning = Document.define(:command, :recorded_at, :observation, :machine, :workload, :sweep, :advice_list, :verdict,
    :unproven, kind: :tuning,
    nested: {observation: Probe::Observation, machine: Model::Machine, workload: Model::Workload, sweep: Predict::Sweep,
             advice_list: Advise::AdviceList, verdict: Prove::Verdict, unproven: Unknown}) do
    def initialize(unproven: nil, **fields) = super
  end
end
