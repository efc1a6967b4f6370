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
      PumaTuner::Probe::GvlClock.start or raise "the clock did not start: #{PumaTuner::Probe::GvlClock.why_not}"
      PumaTuner.measure("the first one, which begins the recording") {}
    end

    def around(&)
      began_ns = now_ns
      PumaTuner.measure(NAME, &)
      @around_ns = now_ns - began_ns
      @budget = PumaTuner.snapshot.jobs.find { |job| job.name == NAME }.budget
      PARTS.to_h { |part| [part, @budget.part_ns(part)] }.compact
    end

    # By adding up: its own wall time is of the same stamps as its parts, and proves nothing of them.
    def extras = {wall_ns: PARTS.sum { |part| @budget.part_ns(part) || 0 }, around_ns: @around_ns}

    private

    def now_ns = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
  end
end
