# frozen_string_literal: true

module PumaTuner
  module AccessLog
    # Requests of one kind. names: of what differs between them; rows: the lists of values seen for these, each as often
    # as it was, or ROWS_MAX of them by chance
    Group = Data.define(:http_method, :template, :count, :names, :rows)

    # Sums up what was asked, how often, and when. A log of any length takes as much memory as KINDS_MAX kinds,
    # VALUES_BYTES_MAX of values and what Instants keeps.
    class Summary
      # It keeps so many lists of values for each kind. What many asked for stays frequent among them, as it is what
      # caches have.
      ROWS_MAX = 2_000

      # Half as many lists for each, again and again, once those of all kinds take more than this.
      VALUES_BYTES_MAX = 64 * Units::MIB

      # What a list, and a value beside its text, takes.
      OBJECT_BYTES = 40

      # Once there are twice as many kinds, the rarest are counted together: words in paths, names in queries that
      # nobody can see through must not fill the memory. One that is dropped had less than a thousandth of the requests
      # so far; if it comes again, it counts from then on.
      KINDS_MAX = 1_000

      # Rails writes this in the place of a parameter that is nobody's business.
      FILTERED = "[FILTERED]"

      # @return [Integer] requests
      attr_reader :count

      # @return [Integer] requests of the kinds that were too rare to be told apart
      attr_reader :other_count

      # @param entries [Enumerable<Entry>] at least one; none of them is kept
      # @param resolution_ns [Integer] of the log's clock
      # @param seed [Integer]
      # @yieldparam path [String]
      # @yieldreturn [String] its endpoint's name, variable parts being ":id"
      def initialize(entries, resolution_ns:, seed: 1, &named)
        @named = named
        @random = Random.new(seed)
        @kinds = {}
        @rows_max = ROWS_MAX
        @count = @other_count = @values_bytes = 0
        @instants = Instants.new(resolution_ns:, random: Random.new(seed))
        entries.each do |entry|
          @count += 1
          add(entry)
          @instants.add(entry)
        end
      end

      # @return [Array<Group>] the most frequent first
      def groups
        groups = @kinds.map do |(http_method, template), kind|
          Group.new(http_method:, template:, count: kind.count, names: kind.names, rows: kind.rows)
        end
        groups.sort_by { |group| [-group.count, group.template] }
      end

      # @return [Integer] kinds that groups has
      def kinds_count = @kinds.size

      # @return [Array<Integer>] nanoseconds since the first, ascending; see Instants
      def arrivals_ns = @instants.arrivals_ns

      # @return [Float, nil] requests a second from the first to the last; nil of one instant
      def rate_per_s = @instants.rate_per_s

      # @return [Float] requests a second of the busiest minute; on average, where it was less than one
      def busiest_per_s = @instants.busiest_per_s

      # seen_count: of lists of values, of which rows has some
      Kind = Struct.new(:count, :names, :rows, :seen_count)
      private_constant :Kind

      private

      def add(entry)
        shape = Shape.of(entry.target, &@named)
        kind = @kinds[[entry.http_method, shape.template]] ||= Kind.new(0, shape.values.keys, [], 0)
        kind.count += 1
        keep(kind, shape.values.values) unless shape.values.empty? || shape.values.value?(FILTERED)
        drop_rarest if @kinds.size >= 2 * KINDS_MAX
      end

      def keep(kind, row)
        place = (kind.seen_count < @rows_max) ? kind.seen_count : @random.rand(kind.seen_count + 1)
        kind.seen_count += 1
        return if place >= @rows_max
        @values_bytes += bytes(row) - (kind.rows[place] ? bytes(kind.rows[place]) : 0)
        kind.rows[place] = row
        keep_fewer while @values_bytes > VALUES_BYTES_MAX && @rows_max > 1
      end

      def bytes(row) = row.sum { |value| value.bytesize + OBJECT_BYTES } + OBJECT_BYTES

      def keep_fewer
        @rows_max /= 2
        @kinds.each_value { |kind| kind.rows = kind.rows.sample(@rows_max, random: @random) }
        @values_bytes = @kinds.each_value.sum { |kind| kind.rows.sum { |row| bytes(row) } }
      end

      # Of those that are as rare, what came first goes first.
      def drop_rarest
        rarest = @kinds.each_with_index.sort_by { |(_, kind), place| [kind.count, place] }
        rarest.first(@kinds.size - KINDS_MAX).each do |(key, kind), _|
          @kinds.delete(key)
          @other_count += kind.count
          @values_bytes -= kind.rows.sum { |row| bytes(row) }
        end
      end
    end
  end
end
