# frozen_string_literal: true

module PumaTuner
  module Report
    class Html
      # The page of a comparison of two groups of servers.
      class FleetPage < Page
        # @return [Fleet::Comparison]
        def comparison = @value

        # @return [FleetFigures]
        def figures = @figures ||= FleetFigures.new(@value)

        # @return [String]
        def title = figures.title

        # @return [String]
        def content_html = fleet_html

        # @return [FleetChart]
        def fleet_chart = @fleet_chart ||= FleetChart.new(@value)
      end
    end
  end
end
