# frozen_string_literal: true

module PumaTuner
  module Advise
    # What advice about topologies must respect; nil or empty where anything goes. A steady state is asked for always.
    #
    # goals: Array<Goal>, that the upper ends of the forecasts' intervals must meet: that is their margin
    # max_memory_bytes: PSS of all processes together; memory_limited_by: "option", where somebody asked for it, or
    #   "container"; nil without one
    # db_connections_count: that the database takes; each thread may need one
    Constraints = Document.define(:goals, :max_memory_bytes, :memory_limited_by, :db_connections_count,
      nested: {goals: [Goal]}, added: %i[goals db_connections_count]) do
      # Older files have one limit to the latency.
      def self.from_document(fields)
        limit_ns = fields["max_p99_ns"] or return super
        super({**fields, "goals" => [{"endpoint" => nil, "percentile" => "p99", "limit_ns" => limit_ns}]})
      end

      def initialize(goals: nil, max_memory_bytes: nil, memory_limited_by: max_memory_bytes && "option",
        db_connections_count: nil)
        super(goals: goals.to_a.dup.freeze, max_memory_bytes:, memory_limited_by:, db_connections_count:)
      end

      # @param facts [Probe::MachineFacts] of where the server runs
      # @return [Constraints] with its control group's memory limit, where none was asked for
      def inside(facts)
        return self if max_memory_bytes || facts.memory_limit_bytes.nil?
        with(max_memory_bytes: facts.memory_limit_bytes, memory_limited_by: "container")
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
        within?(memory_bytes, max_memory_bytes) && within?(forecast.topology.slots_count, db_connections_count)
      end

      # @param forecast [Predict::Forecast]
      # @return [Boolean] whether it is within the limits, has a steady state and meets each goal
      def met_by?(forecast, **) = affords?(forecast, **) && forecast.miss(goals).nil?

      # @return [Boolean] whether the limit on memory is one that nobody had to ask for
      def of_container? = memory_limited_by == "container"

      def any? = !!(max_memory_bytes || db_connections_count || goals.any?)

      # @return [String] "memory of at most 512 MiB and 99% < 200 ms"
      def to_s
        most = of_container? ? "the container's memory limit of" : "memory of at most"
        all = [
          max_memory_bytes && "#{most} #{Units.mebibytes(max_memory_bytes)}",
          db_connections_count && "at most #{Units.counted(db_connections_count, "database connection")}", *goals
        ].compact
        [all[0...-1].join(", "), all.last].reject { |part| part.to_s.empty? }.join(" and ")
      end

      private

      def within?(number, limit) = limit.nil? || (!number.nil? && number <= limit)
    end
  end
end
