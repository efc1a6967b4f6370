# frozen_string_literal: true

module PumaTuner
  module Report
    # Numbers with what they rest on, the same in every format.
    module Figures
      # What a comparison showed, in words.
      OUTCOMES = {better: "better", worse: "worse", equivalent: "equivalent", not_shown: "no difference shown"}.freeze

      module_function

      # @param outcome [Symbol]
      # @return [String] in a table, "not shown"
      def outcome(outcome) = outcome.to_s.tr("_", " ")

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
        same = unit(value) if [low, high].all? { |bound| unit(bound) == unit(value) }
        "#{value} (#{between(low, high).delete_suffix(same.to_s)})"
      end

      # @param metric [Prove::Metric]
      # @return [String] "1,868", "41.1 ms", "133 MiB"; without "requests/s", which is the metric's label
      def number(metric, number)
        return "-" unless number
        case metric.unit
        when "per_s" then Units.rate(number)
        when "ns" then Units.duration(number)
        when "bytes" then Units.mebibytes(number)
        else Units.significant(number).then { |text| text.include?(".") ? text : count(text) }
        end
      end

      # @param estimate [Stats::Estimate, nil]
      # @return [String] "41.1 ms (40.8–42.0)"
      def estimate(metric, estimate) = with_range(estimate) { |number| number(metric, number) }

      # @return [String] "251 requests/s", "p50 74.9 ms"
      def labelled(metric, number)
        told = [metric.label, number(metric, number)]
        ((metric.unit == "per_s") ? told.reverse : told).join(" ")
      end

      # @return [String] "+1.20 µs"
      def change_ns(ns) = ns ? "#{"+" if ns.positive?}#{Units.duration(ns)}" : "-"

      # @return [String] "3.22x (3.13–3.29)", "1.004x (0.991–1.017)"
      def ratio(estimate)
        return "-" unless estimate
        words = ->(number) { format("%.*f", ratio_digits(estimate), number) }
        "#{words.call(estimate.value)}x (#{range(estimate, &words)})"
      end

      # Where two would hide how narrow the interval is, or on which side of 1 it ends, a third is told.
      def ratio_digits(estimate)
        bounds = [estimate.low, estimate.high]
        close = bounds.any? { |bound| bound != 1 && format("%.2f", bound) == "1.00" }
        (close || bounds.last - bounds.first < 0.03) ? 3 : 2
      end

      # @return [String] what an estimate's range promises: "96% interval", or "range" when it is minimum to maximum
      def level(estimate) = estimate.level_ratio ? "#{(estimate.level_ratio * 100).floor}% interval" : "range"

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

      # @return [String] of at most that length, the middle left out: names differ at their ends
      def shortened(name, length)
        text = printable(name)
        return text if text.length <= length
        tail = (length - 1) / 3
        "#{text[0, length - 1 - tail]}…#{text[-tail, tail]}"
      end

      # Names that became the same could not be told apart.
      #
      # @param names [Array<String>]
      # @param least [Integer] characters that there is room for
      # @return [Integer] so many of those, or more, that the names, shortened to them, still differ
      def length_apart(names, least)
        names = names.uniq
        longest = names.map(&:length).max || 0
        (least...longest).find { |length| names.uniq { |name| shortened(name, length) }.size == names.size } || longest
      end

      # More of them are counted only.
      FACTORS_LENGTH = 60

      # @param cell [Prove::Cell]
      # @return [String] "recommended (2x3)", "new json (gem.json=2.8.1)"; a variant that is called after what it is
      # says it once
      def variant(cell)
        factors = factors(cell)
        return cell.variant if factors.empty? || factors.delete(", ") == cell.variant.delete(", ")
        "#{cell.variant} (#{(factors.length > FACTORS_LENGTH) ? counted(cell.factors.size, "factor") : factors})"
      end

      # @return [String] "2x3", "gem.json=2.8.1, yjit=on"; a topology is known by its form
      def factors(cell) = cell.factors.map { |key, value| (key == "topology") ? value : "#{key}=#{value}" }.join(", ")

      # @return [String] "a single process with 5 threads", "2 workers with 3 threads each"
      def topology(topology)
        threads = counted(topology.threads_count, "thread")
        return "a single process with #{threads}" if topology.workers_count == 1
        "#{topology.workers_count} workers with #{threads} each"
      end
    end
  end
end
