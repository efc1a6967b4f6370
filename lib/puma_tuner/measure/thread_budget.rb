# frozen_string_literal: true

module PumaTuner
  module Measure
    # A thread's numbers (ThreadWindow) as a Budget. The same closing as for requests, in ext/puma_tuner/window.c:
    # held time beyond the CPU clock was off the cores, CPU beyond held time was computed with the GVL released.
    module ThreadBudget
      # @param numbers [Hash{Symbol => Integer}] with ThreadWindow::NAMES as keys
      # @return [Budget]
      def self.of(numbers)
        held, gvl_wait, io, lock, sleep, idle, gc, cpu_clock =
          numbers.values_at(:held, :gvl_wait, :io, :lock, :sleep, :idle, :gc, :cpu_clock)
        released_cpu = (cpu_clock - held).clamp(0, io)
        cpu = [cpu_clock, held + released_cpu].min
        gc = [gc, cpu].min
        Budget.new(wall_ns: held + gvl_wait + io + lock + sleep, queue_ns: nil, cpu_ns: cpu - gc,
          preempted_ns: held + released_cpu - cpu, gvl_wait_ns: gvl_wait, gc_ns: gc,
          io_ns: io - released_cpu, lock_ns: lock, sleep_ns: sleep, idle_ns: idle)
      end
    end
  end
end
