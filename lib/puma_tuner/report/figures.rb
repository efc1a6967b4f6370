# frozen_string_literal: true

module PumaTuner
  module Report
    # Numbers with what they rest on, the same in every format.
    module Figures
      # What is compared, in words.
      METRICS = {
        "throughput" => "throughput", "p50" => "p50", "p99" => "p99", "cpu_per_request" => "CPU per request"
      }.freeze

      # What a comparison showed, in words.
      OUTCOMES = {
        "better" => "better", "worse" => "worse", "equivalent" => "equivalent", "not shown" => "no difference shown"
      }.freeze

      module_function

      # @return [String] "1,868"
      def count(number) = number ? number.to_s.gsub(/(?<=\d)(?=(?:\d{3})+\z)/, ",") : "-"

      # @return [String] "1 worker", "2 workers"
      def counted(number, singular, plural = "#{singular}s") = "#{count(number)} #{(number == 1) ? singular : plural}"

      # @param estimate [Stats::Estimate, nil]
      # @yieldparam number [Numeric]
      # @yieldreturn [String] with its unit, or without
      # @return [String] "457–466"; a dash for unknown
      def range(estimate)
        return "-" unless estimate
        between(*[estimate.low, estimate.high].map { |number| yield(number) })
      end

      # A unit that both have is said once.
      def between(low, high)
        return low if low == high
        same = unit(low) if unit(low) == unit(high)
        "#{low.delete_suffix(same.to_s)}–#{high}"
      end

      # @return [String, nil] " ms" of "41.1 ms"
      def unit(text) = text[/ \D+\z/]

      # @return [String] "462 (457–466)", "41.1 ms (40.8–42.0)"
      def with_range(estimate, &)
        return "-" unless estimate
        value, low, high = [estimate.value, estimate.low, estimate.high].map(&)
        "#{value} (#{between(low, high).delete_suffix(unit(value) || " ")})"
      end

      # @return [String] "3.22x (3.13–3.29)"
      def ratio(estimate)
        estimate ? "#{Units.times(estimate.value)} (#{ratio_range(estimate)})" : "-"
      end

      # @return [String] "3.13–3.29"
      def ratio_range(estimate) = range(estimate) { |number| format("%.2f", number) }

      # @return [String] what an estimate's range promises: "96% interval", or "range" when it is minimum to maximum
      def level(estimate) = estimate.level_ratio ? "#{(estimate.level_ratio * 100).floor}% interval" : "range"

      # @param comparison [Prove::Comparison]
      # @return [String, nil] where the forecast lies; nil when there was none
      def prediction_held(comparison)
        return unless comparison.predicted_ratio
        comparison.ratio.covers?(comparison.predicted_ratio) ? "inside" : "outside"
      end

      # @return [String] "a, b and c"
      def list(words)
        (words.size > 1) ? "#{words[..-2].join(", ")} and #{words.last}" : words.join
      end

      # @return [Array<String>] lines of at most `width`, words kept whole
      def wrap(text, width)
        text.split.each_with_object([]) do |word, lines|
          fits = lines.any? && lines.last.length + 1 + word.length <= width
          fits ? lines.last << " " << word : lines << word.dup
        end
      end

      # @return [String] percent without its sign, for columns headed by it: "12.3", "100"
      def share(ratio)
        return "-" unless ratio
        text = format("%.1f", ratio * 100)
        {"100.0" => "100", "-0.0" => "0.0"}.fetch(text, text)
      end

      # @return [String] a relative error: "-3.7%"
      def error(ratio) = ratio ? format("%+.1f%%", ratio * 100) : "-"

      # @return [Float, nil] signed, of a cell's forecast; nil when either side is missing
      def error_ratio(cell, metric)
        cell.public_send(:"#{metric}_error_ratio") if cell.public_send((metric == :throughput) ? :throughput_per_s : :"#{metric}_ns")
      end

      # @return [String] "3.14"
      def cores(number) = number ? format("%.2f", number) : "-"

      # @return [String] whole MiB without the unit
      def mib(bytes) = bytes ? bytes.fdiv(Units::MIB).round.to_s : "-"

      # Names come from the app and its users: nothing in them may steer a terminal or break a line.
      #
      # @return [String]
      def printable(name)
        name.to_s.scrub("?").gsub(/[\t\r\n]+/, " ").gsub(/[[:cntrl:]\u2028\u2029\u202a-\u202e\u2066-\u2069]/, "?")
      end

      # @param cell [Prove::Cell]
      # @return [String] "recommended (2x3)"; a variant that is called after its topology says it once
      def variant(cell) = (cell.variant == cell.topology.to_s) ? cell.variant : "#{cell.variant} (#{cell.topology})"

      # @return [String] "a single process with 5 threads", "2 workers with 3 threads each"
      def topology(topology)
        threads = counted(topology.threads_count, "thread")
        return "a single process with #{threads}" if topology.workers_count == 1
        "#{topology.workers_count} workers with #{threads} each"
      end
    end
  end
end
