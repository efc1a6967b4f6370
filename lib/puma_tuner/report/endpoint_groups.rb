# frozen_string_literal: true

module PumaTuner
  module Report
    # The busiest endpoints, or kinds of job, one by one, and the rest as one.
    module EndpointGroups
      # name: of the endpoint, or "12 others"; latency: histograms add up, so that the others have quantiles, too
      Group = Data.define(:name, :requests_count, :budget, :latency, :p50_ns, :p99_ns)

      # @param works [Array<Probe::EndpointObservation>]
      # @param rows_max [Integer]
      # @return [Array<Group>] by requests, the rest last
      def self.of(works, rows_max)
        sorted = works.sort_by { |work| [-work.requests_count, work.name] }
        shown = (sorted.size > rows_max) ? sorted.first(rows_max - 1) : sorted
        rest = sorted.drop(shown.size)
        groups = shown.map { |work| Group.new(**work.to_h.slice(*Group.members)) }
        groups << together(rest) if rest.any?
        groups
      end

      def self.together(works)
        latency = works.map(&:latency).reduce(:+)
        Group.new(name: "#{works.size} others", requests_count: works.sum(&:requests_count),
          budget: works.map(&:budget).reduce(:+), latency:, p50_ns: latency.quantile_ns(0.5), p99_ns: latency.quantile_ns(0.99))
      end
      private_class_method :together
    end
  end
end
