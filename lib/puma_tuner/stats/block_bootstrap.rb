# frozen_string_literal: true

module PumaTuner
  module Stats
    # Estimates how far a statistic of a few long blocks of time (days) may lie from the truth, when what happens within
    # a block hangs together and blocks hardly do: blocks are drawn with replacement, whole (Künsch, "The jackknife and
    # the bootstrap for general stationary observations", 1989; Davison and Hinkley, "Bootstrap Methods and their
    # Application", 8.2.3).
    #
    # The interval is the estimate plus and minus Student's t, with as many degrees of freedom as blocks less one, times
    # the resamples' standard deviation, which n blocks make sqrt((n - 1) / n) too small. Rejected: the resamples'
    # percentiles, which leave the truth out two to three times as often as promised when a week gives seven blocks.
    module BlockBootstrap
      RESAMPLES_COUNT = 1_000

      # Three blocks make an interval nine times as wide as many would: nobody is served by it.
      BLOCKS_MIN = 4

      # This share of resamples may fail to give a number, when single blocks hold nearly all there is.
      FAILED_RATIO_MAX = 0.1

      # log: of the ratio; error: its standard error; freedom: of Student's t
      Result = Data.define(:log, :error, :freedom, :blocks_count) do
        # @param level_ratio [Float]
        # @return [Estimate] of the ratio
        def estimate(level_ratio: 0.95)
          reach = StudentT.quantile((1 + level_ratio) / 2, freedom) * error
          value, low, high = [log, log - reach, log + reach].map { |number| Math.exp(number) }
          Estimate.new(value:, low:, high:, level_ratio:, samples_count: blocks_count)
        end

        # @return [Float] two-sided, of the ratio being 1
        def p_value
          return log.zero? ? 1.0 : 0.0 if error.zero?
          2 * (1 - StudentT.probability((log / error).abs, freedom))
        end
      end

      # @param blocks_count [Integer]
      # @param random [Random]
      # @yieldparam weights [Array<Integer>] how often each block was drawn
      # @yieldreturn [Array<Float, nil>] logarithms of ratios, always as many; nil where there is none
      # @return [Array<Result, nil>] nil of too few blocks, or where no number came out
      def self.of(blocks_count, random:, resamples_count: RESAMPLES_COUNT)
        whole = yield(Array.new(blocks_count, 1))
        return whole.map { nil } if blocks_count < BLOCKS_MIN
        drawn = Array.new(resamples_count) { yield(weights(blocks_count, random)) }.transpose
        whole.zip(drawn).map { |log, logs| result(log, logs.compact, blocks_count, resamples_count) if log }
      end

      class << self
        private

        def weights(blocks_count, random)
          Array.new(blocks_count, 0).tap { |weights| blocks_count.times { weights[random.rand(blocks_count)] += 1 } }
        end

        def result(log, logs, blocks_count, resamples_count)
          return if logs.size < resamples_count * (1 - FAILED_RATIO_MAX)
          mean = logs.sum / logs.size
          variance = logs.sum { |one| (one - mean)**2 } / (logs.size - 1)
          Result.new(log:, error: Math.sqrt(variance * blocks_count / (blocks_count - 1)),
            freedom: blocks_count - 1, blocks_count:)
        end
      end
    end
  end
end
