# frozen_string_literal: true

module PumaTuner
  module Report
    class Html
      # The page that a writer fills: what the charts' templates see of it.
      class ChartPage < Page
        attr_reader :title

        # @param value [Data] the document
        # @param title [String]
        # @yieldreturn [String] what stands between the page's beginning and its end
        def initialize(value, title:, &content)
          super(value)
          @title = title
          @content = content
        end

        # @return [String]
        def content_html = @content.call

        # @return [String] CSS
        def stylesheet = @stylesheet ||= super + (profile? ? asset("flame_graph.css") : "")

        # @return [String] JavaScript
        def script = @script ||= super + (profile? ? asset("flame_graph.js") : "")

        # @return [Prove::Verdict, nil]
        def verdict = contents.verdict

        private

        def profile? = @value.class::KIND == :profile

        def contents = @contents ||= Contents.of(@value)
      end
    end
  end
end
