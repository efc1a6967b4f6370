# frozen_string_literal: true

module PumaTuner
  module Predict
    module Reference
      # A thread of Puma's own whose CPU is nobody's request: @left_ns of it is still to do.
      module OwnWork
        attr_accessor :wanted_ns

        def interruptible? = @simulation.cores.running?(self) && @simulation.cores.left_ns(self).positive?

        # Called by the GVL: its slice is over.
        def interrupt
          left_ns = @simulation.cores.stop(self)
          @simulation.tally.server_cpu_ns += @left_ns - left_ns
          @left_ns = left_ns
        end

        # Called by the cores.
        def burst_ended
          @simulation.tally.server_cpu_ns += @left_ns
          done
        end

        private

        def compute = @simulation.cores.start(self, @left_ns)
      end
    end
  end
end
