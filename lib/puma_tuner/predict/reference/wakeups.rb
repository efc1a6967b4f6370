# frozen_string_literal: true

module PumaTuner
  module Predict
    module Reference
      # How late a sleeping thread gets a core: measured samples, of an idle machine and of one with all cores busy.
      class Wakeups
        def initialize(settings, cores)
          @idle_ns = settings.wakeup_idle_ns
          @loaded_ns = settings.wakeup_loaded_ns
          @median_ns = @idle_ns[@idle_ns.size / 2]
          @cores = cores
          @random = RandomStream.new(settings.seed, 2)
        end

        # @return [Integer]
        def lateness_ns = drawn(@cores.busy? ? @loaded_ns : @idle_ns)

        # @return [Integer] what of it a recorded wait does not contain already
        def extra_ns = @cores.busy? ? [drawn(@loaded_ns) - @median_ns, 0].max : 0

        private

        def drawn(sample) = sample[@random.below(sample.size)]
      end
    end
  end
end
