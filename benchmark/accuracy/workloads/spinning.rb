# frozen_string_literal: true

require_relative "../workload"

module Accuracy
  # CPU and nothing else.
  class RubySpin < Workload
    private

    def work = spin(ms(600))
  end

  # One call that neither allocates nor looks at interrupts.
  class CSpin < Workload
    private

    def work = AccuracySpin.with_gvl(ms(600))
  end

  # What compression and password hashing do: CPU, though the GVL is free.
  class CSpinWithoutGvl < Workload
    private

    def work = 6.times { AccuracySpin.without_gvl(ms(100)) }

    # While the GVL is free, being off a core is neither preempted (which has it) nor a wait of its own doing.
    def doubts
      off_core_ns = @watch.wall_ns - @watch.cpu_clock_ns
      super.merge(io: off_core_ns, preempted: off_core_ns)
    end
  end
end
