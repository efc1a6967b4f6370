# frozen_string_literal: true

module PumaTuner
  module Advise
    # What advice about topologies must respect; nil or empty where anything goes. A steady state is asked for always.
    #
    # goals: Array<Goal>, that the upper ends of the forecasts' intervals must meet: that is their margin
    # max_memory_bytes: PSS of all processes together; memory_limited_by: "option", where somebody asked for it,
    #   "container" or "machine"; nil without one
    # db_connections_count: that the database takes; each thread may need one
    Constraints = Document.define(:goals, :max_memory_bytes, :memory_limited_by, :db_connections_count,
      nested: {goals: [Goal]}, added: %i[goals db_connections_count]) do
      # What the rest of a machine needs, of each part of its memory: bytes of the part, and the share. It is what
      # Google Kubernetes Engine keeps of a node for the system and its daemons, so that it does not run out of memory.
      const_set(:REST_OF_MACHINE, [[4 << 30, 0.25], [4 << 30, 0.2], [8 << 30, 0.1], [112 << 30, 0.06],
        [Float::INFINITY, 0.02]].freeze)

      # Of what is taken, that must be free below a container's limit: beyond that the kernel kills processes, memory
      # grows after a recording, and what the kernel keeps for a container (its sockets, say) counts, too. It is what
      # Kubernetes' Vertical Pod Autoscaler adds to the use that it saw (--recommendation-margin-fraction).
      const_set(:CONTAINER_MARGIN_RATIO, 0.15)

      # Older files have one limit to the latency.
      def self.of_now(fields)
        limit_ns = fields["max_p99_ns"] or return fields
        {**fields, "goals" => [{"endpoint" => nil, "percentile" => "p99", "limit_ns" => limit_ns}]}
      end
      private_class_method :of_now

      def initialize(goals: nil, max_memory_bytes: nil, memory_limited_by: max_memory_bytes && "option",
        db_connections_count: nil)
        super(goals: goals.to_a.dup.freeze, max_memory_bytes:, memory_limited_by:, db_connections_count:)
      end

      # @param facts [Probe::MachineFacts] of where the server runs
      # @param elsewhere [Boolean] whether it is advised for another machine, whose memory nobody knows
      # @return [Constraints] where no memory limit was asked for, with its control group's, or with what the machine's
      #   memory leaves for an app; the lower of them
      def inside(facts, elsewhere: false)
        return self if max_memory_bytes
        limits = {"container" => facts.memory_limit_bytes, "machine" => (left_bytes(facts) unless elsewhere)}.compact
        limited_by, bytes = limits.min_by(&:last)
        limited_by ? with(max_memory_bytes: bytes, memory_limited_by: limited_by) : self
      end

      # @return [Integer, nil] what may be taken of max_memory_bytes
      def usable_bytes
        of_container? ? (max_memory_bytes / (1 + self.class::CONTAINER_MARGIN_RATIO)).floor : max_memory_bytes
      end

      # @param machines_count [Integer]
      # @return [Constraints] of each of so many machines, which share a database
      def of_each(machines_count)
        with(db_connections_count: db_connections_count && db_connections_count / machines_count)
      end

      # @param forecast [Predict::Forecast]
      # @param memory_bytes [Integer, nil] that it takes at most. Where that is
      #   unknown, it does not respect a limit: nobody could promise it
      # @return [Boolean] whether it takes no more than it may
      def affords?(forecast, memory_bytes: forecast.memory_bytes)
        within?(memory_bytes, usable_bytes) && within?(forecast.topology.slots_count, db_connections_count)
      end

      # @param forecast [Predict::Forecast]
      # @return [Boolean] whether it is within the limits, has a steady state and meets each goal
      def met_by?(forecast, **) = affords?(forecast, **) && forecast.miss(goals).nil?

      # @return [Boolean] whether the limit on memory is one that nobody had to ask for
      def unasked? = of_container? || of_machine?

      def of_container? = memory_limited_by == "container"

      def of_machine? = memory_limited_by == "machine"

      # @return [Constraints] without a limit on memory
      def without_memory = with(max_memory_bytes: nil, memory_limited_by: nil)

      def any? = !!(max_memory_bytes || db_connections_count || goals.any?)

      # @return [String] "memory of at most 512 MiB and 99% < 200 ms"
      def to_s
        all = [
          memory_words,
          db_connections_count && "at most #{Units.counted(db_connections_count, "database connection")}", *goals
        ].compact
        [all[0...-1].join(", "), all.last].reject { |part| part.to_s.empty? }.join(" and ")
      end

      private

      def left_bytes(facts)
        bytes = facts.memory_bytes or return
        reserved, = self.class::REST_OF_MACHINE.inject([0, bytes]) do |(sum, rest), (part, ratio)|
          [sum + ratio * [rest, part].min, [rest - part, 0].max]
        end
        (bytes - reserved).floor
      end

      def memory_words
        return unless max_memory_bytes
        mebibytes = Units.mebibytes(max_memory_bytes)
        return "the container's memory limit of #{mebibytes}" if of_container?
        return "the machine's memory, #{mebibytes} without what the rest of it needs" if of_machine?
        "memory of at most #{mebibytes}"
      end

      def within?(number, limit) = limit.nil? || (!number.nil? && number <= limit)
    end
  end
end
