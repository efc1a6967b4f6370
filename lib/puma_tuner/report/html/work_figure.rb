# frozen_string_literal: true

module PumaTuner
  module Report
    class Html
      # Where the time of endpoints, or of jobs, went: bars, the same in numbers, and what is to be said of them.
      class WorkFigure
        # In the table of numbers.
        ROWS_MAX = 50

        # Of the latency, by heading.
        QUANTILES = {"p50" => 0.5, "p90" => 0.9, "p99" => 0.99, "p99.9" => 0.999, "max" => 1.0}.freeze

        # With fewer, p99.9 would be the maximum under another name.
        LEAST_FOR_P999 = 1_000

        # @param observation [Probe::Observation]
        # @return [Array<WorkFigure>]
        def self.of(observation)
          [
            new("endpoint-budgets", "By endpoint", observation.endpoints, %w[endpoint requests], Parts.possible, "request"),
            new("job-budgets", "By job", observation.jobs, %w[job times], Parts.possible(queue: false), "job")
          ].select(&:any?)
        end

        attr_reader :id, :title, :headings

        # @param headings [Array(String, String)] of their names, and of how many they were
        # @param possible_parts [Array<Parts::Part>]
        # @param noun [String] of one of them
        def initialize(id, title, works, headings, possible_parts, noun)
          @id = id
          @title = title
          @works = works
          @headings = headings
          @possible_parts = possible_parts
          @noun = noun
        end

        # @return [Boolean]
        def any? = @works.any?

        # @return [Boolean] whether they are jobs
        def jobs? = @noun == "job"

        # @return [Bars]
        def bars = Bars.of_works(@works, headings, @possible_parts)

        # @return [Array<String>] sentences
        def notes = WorkNotes.new(@works, noun: @noun).all

        # @return [Array<EndpointGroups::Group>]
        def groups = @groups ||= EndpointGroups.of(@works, ROWS_MAX)

        # @return [Parts::Sorted]
        def parts = @parts ||= Parts.sort(groups.map(&:budget), @possible_parts)

        # @return [Array<Parts::Part>]
        def parts_inside = @parts_inside ||= Parts.inside(groups.map(&:budget))

        # @return [Boolean] whether a proxy said when it had the requests
        def before_puma? = groups.any? { |group| group.budget.before_puma_ns }

        # @return [String] above the numbers
        def caption
          left_out = {"below 0.1% everywhere" => parts.unseen, "unknown" => parts.unknown}
            .filter_map { |label, some| "; #{label}: #{Figures.list(some.map(&:word))}" if some.any? }.join
          "Latency in ms (p99.9 of #{Figures.count(LEAST_FOR_P999)} #{@noun}s and more); parts in percent of the #{@noun}s’ " \
            "time, which make 100 with the residual#{left_out}."
        end

        # @param group [EndpointGroups::Group]
        # @return [Array<Integer, nil>] of QUANTILES
        def quantiles_ns(group)
          few = group.requests_count < LEAST_FOR_P999
          QUANTILES.map { |name, ratio| group.latency.quantile_ns(ratio) unless few && name == "p99.9" }
        end

        # @return [Float, nil]
        def before_puma_ns(group) = group.budget.before_puma_ns&.fdiv(group.requests_count)
      end
    end
  end
end
