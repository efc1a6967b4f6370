# frozen_string_literal: true

require "digest"

module PumaTuner
  module Report
    class Html
      # What the templates see: the contents, the charts, and `h`, through which all text must go.
      class View
        include Templates
        include ProofView
        include ForecastView

        ASSETS = File.join(__dir__, "assets")

        # Threads that serve no requests, in their table.
        BACKGROUND_MAX = 32

        # Of values on their own.
        TITLES = {observation: "What was measured", sweep: "What was predicted", verdict: "What the rounds showed"}.freeze

        attr_reader :contents

        # @param value [Data] any document but a workload or a machine
        def initialize(value)
          @value = value
          @contents = Contents.of(value)
        end

        # @return [String] the whole page
        def page = page_html

        # @return [String] text in which nothing is markup
        def h(text) = ERB::Util.html_escape(Figures.printable(text))

        # @return [String] the same for sentences: a range in brackets stays on one line
        def prose(text) = h(text).gsub(/\([\d.]+–[^()\s]+( [^()\s]+)?\)/) { |range| %(<span class="together">#{range}</span>) }

        # @return [String] what the page is called
        def title
          contents.recommendation&.title || Findings.title(contents) || TITLES.fetch(@value.class::KIND, "What to change")
        end

        # @return [Measure::Observation, nil]
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

        # @return [Boolean] whether it was looked at, and every request's parts sum to its wall time
        def closed?
          works = observation.endpoints + observation.jobs
          works.any? && WorkNotes.new(works).closed?
        end

        # @return [Boolean] whether there were any to leave out of the embedded document
        def recorded_requests? = observation || contents.workload

        # @param text [String] the number as it is read
        # @param number [Numeric, nil] and as it is sorted by
        # @return [String] a cell of a table
        def number_cell(text, number = nil)
          %(<td class="number"#{%( data-number="#{format("%.6g", number)}") if number}>#{h(text)}</td>)
        end

        # @return [String] CSS
        def stylesheet = @stylesheet ||= asset("tuner.css")

        # @return [String] JavaScript
        def script = @script ||= asset("tuner.js")

        # @return [String] allows our own script and nothing else, whatever might slip through an escape
        def content_security_policy
          "default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-#{Digest::SHA256.base64digest(script)}'"
        end

        # @return [String] the value as JSON, fit for a script element
        def embedded_document = Embedded.json(@value)

        private

        def asset(name) = File.read(File.join(ASSETS, name), encoding: "UTF-8")
      end
    end
  end
end
