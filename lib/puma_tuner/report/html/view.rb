# frozen_string_literal: true

module PumaTuner
  module Report
    class Html
      # The page of a tuning, or of one value of it: what the templates see of its contents and charts.
      class View < Page
        include ProofView
        include ForecastView

        # Threads that serve no requests, in their table.
        BACKGROUND_MAX = 32

        # Of values on their own.
        TITLES = {observation: "What was measured", sweep: "What was predicted", verdict: "What the rounds showed"}.freeze

        attr_reader :contents

        # @param value [Data] any document but a workload or a machine
        def initialize(value)
          super
          @contents = Contents.of(value)
        end

        # @return [String]
        def content_html = tuning_html

        # @return [String] what the page is called
        def title
          contents.headline || Findings.title(contents) || TITLES.fetch(@value.class::KIND, "What to change")
        end

        # @return [Probe::Observation, nil]
        def observation = contents.observation

        # @return [Facts] of the observation
        def facts = @facts ||= Facts.new(observation)

        # @return [Array<Summary::Point>]
        def summary_points = Summary.new(contents).points

        # @return [Glance]
        def glance = @glance ||= Glance.new(contents)

        # @return [Array<WorkFigure>] of the endpoints and of the jobs, as far as there are any
        def work_figures = @work_figures ||= WorkFigure.of(observation)

        # @return [LatencyChart]
        def latency_chart = @latency_chart ||= LatencyChart.new(observation.endpoints)

        # @return [HolderMatrix]
        def holder_matrix = @holder_matrix ||= HolderMatrix.new(GvlHolders.new(observation))

        # @return [Array<Background::Row>]
        def background_rows = Background.rows(observation).first(BACKGROUND_MAX)

        # @return [Boolean] whether there were any to leave out of the embedded document
        def recorded_requests? = observation || contents.workload
      end
    end
  end
end
