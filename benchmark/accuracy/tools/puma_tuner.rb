# frozen_string_literal: true

module Accuracy
  # Ours: as a job, whose budget is read inside the process.
  class PumaTunerTool < Tool
    NAME = "workload"
    PARTS = %i[cpu preempted gvl_wait gc io lock sleep].freeze
    COVERS = PARTS.to_h { |part| [part, [part]] }.freeze
    READING = "the budget of a block of PumaTuner.measure, part by part"

    def prepare
      require "puma_tuner"
      PumaTuner::Measure::GvlClock.start or raise "the clock did not start: #{PumaTuner::Measure::GvlClock.why_not}"
    end

    def around(&)
      PumaTuner.measure(NAME, &)
      @budget = PumaTuner.snapshot.jobs.find { |job| job.name == NAME }.budget
      PARTS.to_h { |part| [part, @budget.part_ns(part)] }.compact
    end

    # A job is put on no list; were there a queue all the same, it would be missing from the sum.
    def extras = {wall_ns: @budget.wall_ns, residual_ns: @budget.residual_ns + (@budget.queue_ns || 0)}
  end
end
