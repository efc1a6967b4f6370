# frozen_string_literal: true

module PumaTuner
  module Report
    # The busiest endpoints one by one, and the rest as one.
    module EndpointGroups
      # name: of the endpoint, or "12 others"; p50_ns, p99_ns: nil where several are one, as quantiles can't be added up
      Group = Data.define(:name, :requests_count, :budget, :p50_ns, :p99_ns)

      # @param observation [Measure::Observation]
      # @param rows_max [Integer]
      # @return [Array<Group>] by requests, the rest last
      def self.of(observation, rows_max)
        sorted = observation.endpoints.sort_by { |endpoint| [-endpoint.requests_count, endpoint.name] }
        shown = (sorted.size > rows_max) ? sorted.first(rows_max - 1) : sorted
        rest = sorted.drop(shown.size)
        groups = shown.map { |endpoint| Group.new(**endpoint.to_h.slice(*Group.members)) }
        groups << together(rest) if rest.any?
        groups
      end

      def self.together(endpoints)
        Group.new(name: "#{endpoints.size} others", requests_count: endpoints.sum(&:requests_count),
          budget: endpoints.map(&:budget).reduce(:+), p50_ns: nil, p99_ns: nil)
      end
      private_class_method :together
    end
  end
end
