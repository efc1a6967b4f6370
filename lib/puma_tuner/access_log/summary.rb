# frozen_string_literal: true

module PumaTuner
  module AccessLog
    # Requests of one kind. names: of what differs between them; rows: the lists of values seen for these, each as often
    # as it was, or ROWS_MAX of them by chance
    Group = Data.define(:http_method, :template, :count, :names, :rows)

    # Sums up what was asked, how often, and when.
    class Summary
      # It keeps so many lists of values for each kind. What many asked for stays frequent among them, as it is what
      # caches have.
      ROWS_MAX = 2_000

      # What took longer than this share of requests, and began before the log, came long before it.
      LEAD_QUANTILE = 0.9

      # Rails writes this in the place of a parameter that is nobody's business.
      FILTERED = "[FILTERED]"

      # @return [Array<Integer>] nanoseconds since the first, ascending; of those that came since the log begins
      attr_reader :arrivals_ns

      # @return [Integer] requests
      attr_reader :count

      # @param entries [Enumerable<Entry>] at least one; none of them is kept
      # @param resolution_ns [Integer] of the log's clock: requests of one of
      #   its ticks came at unknown instants inside of it
      # @param seed [Integer]
      # @yieldparam path [String]
      # @yieldreturn [String] its endpoint's name, variable parts being ":id"
      def initialize(entries, resolution_ns:, seed: 1, &named)
        @named = named
        @random = Random.new(seed)
        @groups = {}
        told = entries.map do |entry|
          add(entry)
          [entry.at_ns, entry.lead_ns]
        end
        @count = told.size
        @arrivals_ns = arrivals(told.sort, resolution_ns, Random.new(seed))
      end

      # @return [Array<Group>] the most frequent first
      def groups
        groups = @groups.map do |(http_method, template), (count, names, rows)|
          Group.new(http_method:, template:, count:, names:, rows:)
        end
        groups.sort_by { |group| [-group.count, group.template] }
      end

      # @return [Float, nil] requests a second from the first to the last; nil of one instant
      def rate_per_s = (@arrivals_ns.size.pred.fdiv(@arrivals_ns.last) * Units::NS_PER_S if @arrivals_ns.last.positive?)

      # @return [Float] requests a second of the busiest minute; on average, where it was less than one
      def busiest_per_s
        return rate_per_s if rate_per_s && @arrivals_ns.last < MINUTE_NS
        @arrivals_ns.map { |ns| ns / MINUTE_NS }.tally.values.max / 60.0
      end

      MINUTE_NS = 60 * Units::NS_PER_S
      private_constant :MINUTE_NS

      private

      # Instants of one tick are spread over it before the times are taken off them, which tell more than the clock.
      # What came long before the log begins is left out, such as a download that ends in it: of those times it has
      # hardly any request.
      def arrivals(told, resolution_ns, random)
        begins_ns = told.first.first - told.map(&:last).sort[(told.size * LEAD_QUANTILE).floor]
        instants = told.map do |at_ns, lead_ns|
          ((at_ns % resolution_ns).zero? ? at_ns + random.rand(resolution_ns) : at_ns) - lead_ns
        end
        instants.reject! { |ns| ns < begins_ns }
        instants.sort!.map { |ns| ns - instants.first }
      end

      def add(entry)
        shape = Shape.of(entry.target, &@named)
        group = @groups[[entry.http_method, shape.template]] ||= [0, shape.values.keys, [], 0]
        group[0] += 1
        return if shape.values.empty? || shape.values.value?(FILTERED)
        place = (group[3] < ROWS_MAX) ? group[3] : @random.rand(group[3] + 1)
        group[2][place] = shape.values.values if place < ROWS_MAX
        group[3] += 1
      end
    end
  end
end
