# frozen_string_literal: true

module PumaTuner
  module AccessLog
    # When requests came: the instants of the first HELD_MAX of a log's lines, and of all of them how many came in which
    # minute. Of the instants alone can be told when the log begins, so until there are so many (or the log ends) they
    # are kept, and what comes after them is added up.
    class Instants
      # So many take some 50 MB.
      HELD_MAX = 500_000

      # A log may go on for years. So many minutes are counted at a time, which is a week; the others are over, as lines
      # stand near their place, or are of another log that was put before.
      MINUTES_MAX = 10_080

      # What took longer than this share of requests, and began before the log, came long before it.
      LEAD_QUANTILE = 0.9

      MINUTE_NS = 60 * Units::NS_PER_S

      # @param resolution_ns [Integer] of the log's clock: requests of one of
      #   its ticks came at unknown instants inside of it
      # @param random [Random]
      def initialize(resolution_ns:, random:)
        @resolution_ns = resolution_ns
        @random = random
        @held = []
        @count = @busiest_count = 0
        @minutes = {}
      end

      # @param entry [Entry]
      # @return [void]
      def add(entry)
        return count_later(entry.at_ns, entry.lead_ns) unless @held
        @held << [entry.at_ns, entry.lead_ns]
        settle if @held.size >= HELD_MAX
      end

      # @return [Array<Integer>] nanoseconds since the first, ascending; of those that came since the log begins, and
      #   stand in the first HELD_MAX lines
      def arrivals_ns = settled.then { @arrivals_ns }

      # @return [Float, nil] requests a second from the first to the last; nil of one instant
      def rate_per_s = (@count.pred.fdiv(lasted_ns) * Units::NS_PER_S if lasted_ns.positive?)

      # @return [Float] requests a second of the busiest minute; on average, where it was less than one
      def busiest_per_s
        return rate_per_s if rate_per_s && lasted_ns < MINUTE_NS
        @busiest_count / 60.0
      end

      private

      def lasted_ns = settled.then { @last_ns - @first_ns }

      def settled = (settle if @held)

      # Instants of one tick are spread over it before the times are taken off them, which tell more than the clock.
      # What came long before the log begins is left out, such as a download that ends in it: of those times it has
      # hardly any request.
      def settle
        held, @held = @held.sort, nil
        @lead_ns = held.map(&:last).sort[(held.size * LEAD_QUANTILE).floor]
        @begins_ns = held.first.first - @lead_ns
        instants = held.map { |at_ns, lead_ns| instant_ns(at_ns, lead_ns) }
        instants.reject! { |ns| ns < @begins_ns }
        @minutes_begin_ns = @first_ns = @last_ns = instants.min
        instants.sort!.each { |ns| count(ns) }
        @arrivals_ns = instants.map { |ns| ns - @first_ns }
      end

      def instant_ns(at_ns, lead_ns)
        ((at_ns % @resolution_ns).zero? ? at_ns + @random.rand(@resolution_ns) : at_ns) - lead_ns
      end

      # A log that was put together may have its beginning behind.
      def count_later(at_ns, lead_ns)
        @begins_ns = [@begins_ns, at_ns - @lead_ns].min
        ns = instant_ns(at_ns, lead_ns)
        count(ns) if ns >= @begins_ns
      end

      def count(ns)
        @count += 1
        @first_ns = ns if ns < @first_ns
        @last_ns = ns if ns > @last_ns
        minute = (ns - @minutes_begin_ns) / MINUTE_NS
        in_minute = @minutes[minute] = @minutes.fetch(minute, 0) + 1
        @busiest_count = in_minute if in_minute > @busiest_count
        @minutes.shift if @minutes.size > MINUTES_MAX
      end
    end
  end
end
