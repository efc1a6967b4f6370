# frozen_string_literal: true

module PumaTuner
  module CLI
    # Words of the command line as values; what can't be understood is a UsageError that names its option.
    module Parse
      module_function

      # @param text [String] "1..8", "1,2,5" or "3"
      # @param range [Range<Integer>] that each must lie in
      # @return [Array<Integer>] ascending
      def counts(option, text, range = 1..256)
        numbers = text.split(",").flat_map { |part|
          first, last = part.split("..", 2).map { |number| Integer(number, 10) }
          raise ArgumentError if [first, last || first].any? { |number| !range.cover?(number) }
          (first..(last || first)).to_a
        }
        raise ArgumentError if numbers.empty?
        numbers.uniq.sort
      rescue ArgumentError, TypeError
        raise UsageError, "#{option} #{text}: write a range such as 1..8, a list such as 1,2,5, or a number; " \
          "each from #{range.min} to #{range.max}"
      end

      # @param text [String] "50,100,200"
      # @return [Array<Float>] requests per second, ascending
      def rates(option, text)
        numbers = text.split(",").map { |number| Float(number) }
        raise ArgumentError unless numbers.any? && numbers.all?(possible_rates)
        numbers.uniq.sort
      rescue ArgumentError, TypeError
        raise UsageError, "#{option} #{text}: write requests per second, or a list of them such as 50,100,200; " \
          "each from #{possible_rates.begin} to #{possible_rates.end}"
      end

      # Not a constant here, which would load the model with each command.
      def possible_rates = Model::Arrivals::RATES_PER_S

      # @param least [Numeric, nil] the least that will do; nil: anything more than zero
      # @return [Float]
      def seconds(option, text, limit: 3600, least: nil)
        number = Float(text)
        raise ArgumentError unless (least ? number >= least : number.positive?) && number <= limit
        number
      rescue ArgumentError, TypeError
        raise UsageError, "#{option} #{text}: write seconds, " \
          "#{least ? "from #{least}" : "more than 0"} and at most #{limit}"
      end

      SECONDS_PER = {"s" => 1, "m" => 60, "h" => 3600}.freeze

      # @param text [String] "90", "90s", "5m", "1.5h"
      # @return [Float] seconds
      def time(option, text)
        number, unit = text.match(/\A(\d+\.?\d*)\s*([smh]?)\z/)&.captures
        seconds = number && number.to_f * SECONDS_PER.fetch(unit, 1)
        return seconds if seconds&.between?(10, 24 * 3600)
        raise UsageError, "#{option} #{text}: write a time such as 90s, 5m or 1h, from 10 s to 24 hours"
      end

      # @return [Float] 0.02 of "2" or "2%"
      def percent(option, text)
        number = Float(text.delete_suffix("%"))
        raise ArgumentError unless number.between?(0, 50)
        number / 100
      rescue ArgumentError, TypeError
        raise UsageError, "#{option} #{text}: write percent, from 0 to 50"
      end

      # @return [Integer]
      def count(option, text, range)
        number = Integer(text, 10)
        raise ArgumentError unless range.cover?(number)
        number
      rescue ArgumentError, TypeError
        raise UsageError, "#{option} #{text}: write a whole number from #{range.min} to #{range.max}"
      end

      # @param text [String] "90% < 300ms"
      # @return [Goal]
      def goal(option, text)
        Goal.read(text) or raise UsageError, "#{option} #{text.inspect}: that is no goal; #{Goal::FORM}"
      end

      SECONDS_IN = {"s" => 1, "min" => 60}.freeze

      # @param text [String] "120/s", "7200/min" or "120"
      # @return [Float] requests per second
      def per_second(option, text)
        number, unit = text.match(%r{\A(\d+(?:\.\d+)?)(?:/(s|min))?\z})&.captures
        rate_per_s = number && number.to_f / SECONDS_IN.fetch(unit || "s")
        return rate_per_s if rate_per_s && possible_rates.cover?(rate_per_s)
        raise UsageError, "#{option} #{text}: write requests per second such as 120/s, or per minute such as " \
          "7200/min; from #{possible_rates.begin}/s to #{possible_rates.end}/s"
      end

      BYTES_IN = {"KiB" => 1 << 10, "MiB" => 1 << 20, "GiB" => 1 << 30,
                  "KB" => 10**3, "MB" => 10**6, "GB" => 10**9}.freeze

      # No machine has as much.
      BYTES = 1..10**18

      # @param text [String] "2GiB", "512MiB", "2GB"
      # @return [Integer]
      def bytes(option, text)
        number, unit = text.match(/\A(\d{1,18}(?:\.\d+)?)\s*(\w+)\z/)&.captures
        bytes = number.to_f * BYTES_IN[unit] if BYTES_IN.key?(unit)
        return bytes.round if bytes && BYTES.cover?(bytes)
        raise UsageError, "#{option} #{text}: write a size with its unit, such as 2GiB or 512MiB, and at most a " \
          "million TB; there is #{BYTES_IN.keys.join(", ")}"
      end

      # @param text [String] "95", "99.9"
      # @return [String] "p95"
      def percentile(option, text)
        name = "p#{text}"
        return name if Percentile.name?(name)
        raise UsageError, "#{option}: #{text.inspect} is not a percentile; write a number from 1 to below 100, such " \
          "as 95 or 99.9"
      end

      # @return [String] a path; of `--output=~/a.json` no shell writes the user's home in its place
      def path(option, text)
        text.start_with?("~") ? Host::UserPath.expand("#{option} #{text}", text) : text
      end

      # @param text [String] "1x3,2x5"
      # @return [Array<Topology>]
      def topologies(text) = text.split(",").map { |part| Topology.parse(part.strip) }
    end
  end
end
