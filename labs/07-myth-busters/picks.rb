# frozen_string_literal: true

module PumaTuner
  module Labs
    class MythBusters
      # How many threads each piece of advice gives. Pure.
      module Picks
        # Amdahl's law never says stop: its usual readers do where a thread more brings less than this.
        AMDAHL_LEAST_GAIN_RATIO = 0.05

        # Throughputs this close are equal, and then the fewest threads are best: more only cost memory and waiting.
        ALIKE_RATIO = 0.03

        # Rails' defaults: until 7.1, and since 7.2 (rails/rails#50450).
        RAILS_OLD = 5
        RAILS_NEW = 3

        module_function

        # @param io_ratio [Float] 0..1
        # @return [Integer] 100 / CPU %
        def rule(io_ratio) = RuleOfThumb.threads_count(1 - io_ratio)

        # @param io_ratio [Float] 0..1
        # @return [Integer] the last thread that Amdahl's law has bring AMDAHL_LEAST_GAIN_RATIO
        def amdahl(io_ratio)
          speedup = ->(threads) { 1 / ((1 - io_ratio) + io_ratio / threads) }
          (1..).find { |threads| speedup.call(threads + 1) < speedup.call(threads) * (1 + AMDAHL_LEAST_GAIN_RATIO) }
        end

        # @param throughputs [Hash{Integer => Float}] by threads
        # @return [Integer, nil] the fewest threads that are as good as any
        def best(throughputs)
          most = throughputs.values.max or return
          throughputs.select { |_, per_s| per_s >= most * (1 - ALIKE_RATIO) }.keys.min
        end

        # @param throughputs [Hash{Integer => Stats::Estimate}] by threads, with the range of the repeats
        # @return [Integer] the fewest threads that are as good as any, for all that the repeats show
        def best_measured(throughputs)
          highest = throughputs.values.max_by(&:value)
          throughputs.select { |_, estimate| estimate.high >= [highest.low, highest.value * (1 - ALIKE_RATIO)].min }.keys.min
        end

        # @param wanted [Integer]
        # @param measured [Array<Integer>] numbers of threads
        # @return [Integer] the measured one that is nearest, as a ratio
        def nearest(wanted, measured) = measured.min_by { |threads| [Math.log(threads.fdiv(wanted)).abs, threads] }
      end
    end
  end
end
