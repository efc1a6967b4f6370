# frozen_string_literal: true

module PumaTuner
  # Numbers as people read them. Inside the program everything is nanoseconds, bytes and ratios; this is the edge.
  module Units
    NS_PER_US = 1_000
    NS_PER_MS = 1_000_000
    NS_PER_S = 1_000_000_000
    MIB = 1024 * 1024

    module_function

    # @return [String] three significant digits and a unit, or a dash for unknown
    def duration(ns)
      return "-" unless ns
      case ns.abs
      when 0...NS_PER_US then "#{ns.round} ns"
      when NS_PER_US...NS_PER_MS then "#{significant(ns.fdiv(NS_PER_US))} µs"
      when NS_PER_MS...NS_PER_S then "#{significant(ns.fdiv(NS_PER_MS))} ms"
      else "#{significant(ns.fdiv(NS_PER_S))} s"
      end
    end

    # @return [String] milliseconds without the unit, for columns headed by it
    def milliseconds(ns) = ns ? significant(ns.fdiv(NS_PER_MS)) : "-"

    # @return [String] "12.3%"
    def percent(ratio) = ratio ? format("%.1f%%", ratio * 100) : "-"

    # @return [String] a change: 1.25 becomes "+25%"
    def change(ratio) = ratio ? format("%+.0f%%", (ratio - 1) * 100) : "-"

    # @return [String] "1.25x"
    def times(ratio) = ratio ? format("%.2fx", ratio) : "-"

    # @return [String] requests per second
    def rate(per_s) = per_s ? significant(per_s) : "-"

    # @return [String] whole MiB
    def mebibytes(bytes) = bytes ? "#{bytes.fdiv(MIB).round} MiB" : "-"

    # @param number [Integer]
    # @return [String] "1 thread", "2 threads"
    def counted(number, singular, plural = "#{singular}s") = "#{number} #{(number == 1) ? singular : plural}"

    # Three significant digits, and never in exponent form; "Inf" and "NaN" of what was divided by zero.
    def significant(number)
      return format("%.2f", number) unless number.finite?
      magnitude = number.abs
      if magnitude >= 100 then number.round.to_s
      elsif magnitude >= 10 then format("%.1f", number)
      else format("%.2f", number)
      end
    end
  end
end
