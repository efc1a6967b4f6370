# frozen_string_literal: true

module PumaTuner
  module Report
    class Html
      # The page of a profile.
      class ProfilePage < Page
        METHODS_MAX = 200
        SITES_MAX = 100

        # @return [Profile::Costs]
        def costs = @value

        # @return [String]
        def content_html = profile_html

        # @return [String]
        def title = "Where the #{{"ns" => (costs.mode == "cpu") ? "CPU time" : "time", "objects" => "objects", "bytes" => "memory"}.fetch(costs.unit, "calls")} went, by method"

        # @return [CostFigures]
        def figures = @figures ||= CostFigures.new(costs)

        # @return [String] CSS
        def stylesheet = @stylesheet ||= super + asset("flame_graph.css")

        # @return [String] JavaScript
        def script = @script ||= super + asset("flame_graph.js")

        # @return [FlameGraph]
        def flame_graph = @flame_graph ||= FlameGraph.new(costs)

        # @return [Array<Profile::MethodCost>]
        def method_rows = costs.methods.first(METHODS_MAX)

        # @return [Array<Profile::AllocationSite>]
        def site_rows = costs.allocations.first(SITES_MAX)

        # @return [String] "graphql-2.6.14/lib/graphql/schema.rb:12"
        def place(one) = CostFigures.place(one.path, one.line)

        # @return [Hash{String => String}] what was measured, and on what
        def foundations
          {"target" => costs.target, "profiler" => figures.sentence, "command" => costs.command, "recorded" => costs.recorded_at,
           "its own files" => costs.files.join(", "), "to look at them" => costs.viewer, "machine" => Facts.machine(costs.machine), "kernel" => costs.machine.kernel,
           "remarks" => (figures.notes.join(" ") if figures.notes.any?)}.compact
        end
      end
    end
  end
end
