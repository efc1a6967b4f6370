# frozen_string_literal: true

require "time"

module PumaTuner
  module Fleet
    # A time in which a group is looked at, and the spans that it is cut into.
    #
    # ends_s: seconds since 1970; duration_s, step_s: whole seconds, the first a multiple of the second
    Window = Data.define(:ends_s, :duration_s, :step_s) do
      const_set(:UNITS, {"s" => 1, "m" => 60, "h" => 3_600, "d" => 86_400, "w" => 604_800}.freeze)

      # At the end of an instant.
      const_set(:ZONE, /(Z|[+-]\d\d(:?\d\d)?)\z/i)

      # @param text [String] "7d", "36h"
      # @return [Integer] seconds
      def self.seconds(option, text)
        match = /\A([1-9]\d*)([smhdw])\z/.match(text) or
          raise UsageError, "#{option} #{text}: write a number and s, m, h, d or w, such as 7d"
        seconds = match[1].to_i * self::UNITS.fetch(match[2])
        raise UsageError, "#{option} #{text}: write at most 90d" if seconds > 90 * 86_400
        seconds
      end

      # Without a zone it is of UTC, as all times are that are printed: the same words mean the same on any machine. No
      # year has more than four digits, and no number of seconds so many that it is beyond all numbers.
      #
      # @param text [String, nil] ISO 8601, or seconds since 1970
      # @return [Numeric, nil]
      def self.instant(option, text)
        return if text.nil?
        return text.to_f if text.match?(/\A\d{9,11}(\.\d{1,9})?\z/)
        raise ArgumentError unless text.match?(/\A\d{4}-/)
        instant = text.include?("T") ? text : "#{text}T00:00:00"
        Time.iso8601(instant.match?(self::ZONE) ? instant : "#{instant}Z").to_f
      rescue ArgumentError
        raise UsageError, "#{option} #{text}: write a time such as 2026-03-02 or 2026-03-02T10:00:00Z"
      end

      # More spans are more than a Prometheus returns (11,000 for each series), and than anybody needs.
      const_set(:SPANS_MAX, 3_000)

      # Hours for days, minutes for hours: some hundred spans, however long the window.
      #
      # @param step_s [Integer, nil] nil: after the window's length
      def self.of(ends_s, duration_s, step_s: nil)
        step_s ||= {2 * 3_600 => 60, 6 * 3_600 => 300, 36 * 3_600 => 900}.find { |most_s, _| duration_s <= most_s }
          &.last || 3_600
        unless (duration_s / step_s).between?(1, self::SPANS_MAX)
          raise UsageError, "a window of #{duration_s} s in spans of #{step_s} s: there must be one at least, " \
            "and #{self::SPANS_MAX} at most"
        end
        new(ends_s: (ends_s / step_s).floor * step_s, duration_s: duration_s / step_s * step_s, step_s:)
      end

      # @return [Integer]
      def begins_s = ends_s - duration_s

      # @return [Array<Integer>] when each span ends
      def times = (1..(duration_s / step_s)).map { |count| begins_s + count * step_s }

      # Days where there are enough of them, since those resemble each other less than the hours in them do. With fewer,
      # parts of a day, and then the differences between days are not in the interval, and it decides nothing.
      #
      # @return [Integer] seconds
      def block_s
        [86_400, 21_600, 3_600].find { |block_s| duration_s / block_s >= Stats::BlockBootstrap::BLOCKS_MIN } ||
          5 * step_s
      end

      # @return [Boolean] whether blocks are days, by which alone something is shown
      def days? = block_s >= 86_400

      # @return [Array<Integer>] the number of the block that each span lies in
      def blocks = times.map { |time_s| (time_s - begins_s - 1) / block_s }

      # @return [String]
      def to_s = "#{Time.at(begins_s).utc.iso8601} to #{Time.at(ends_s).utc.iso8601}"
    end
  end
end
