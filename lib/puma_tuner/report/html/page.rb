# frozen_string_literal: true

require "digest"
require "erb"

module PumaTuner
  module Report
    class Html
      # What every page has, whatever it shows: style, script, the document itself, and `h`, through which all text must
      # go. A kind of page is a subclass with a title and `content_html`.
      class Page
        include Templates

        ASSETS = File.join(__dir__, "assets")

        # @param value [Data] any document
        def initialize(value)
          @value = value
        end

        # @return [String] the whole page
        def page = page_html

        # @return [String] text in which nothing is markup
        def h(text) = ERB::Util.html_escape(Figures.printable(text))

        # @return [String] the same for sentences: a range in brackets stays on one line
        def prose(text)
          h(text).gsub(/\([\d.]+–[^()\s]+( [^()\s]+)?\)/) { |range| %(<span class="together">#{range}</span>) }
        end

        # @param text [String] the number as it is read
        # @param number [Numeric, nil] and as it is sorted by
        # @param heading [String, nil] its column's, where it is shown beside it in a narrow window
        # @return [String] a cell of a table
        def number_cell(text, number = nil, heading: nil)
          sorted = %( data-number="#{format("%.6g", number)}") if number
          headed = %( data-heading="#{h(heading)}") if heading
          %(<td class="number"#{sorted}#{headed}>#{h(text)}</td>)
        end

        # @return [String] CSS
        def stylesheet = @stylesheet ||= asset("tuner.css")

        # @return [String] JavaScript
        def script = @script ||= asset("tuner.js")

        # @return [String] allows our own script and nothing else, whatever might slip through an escape
        def content_security_policy
          digest = Digest::SHA256.base64digest(script)
          "default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-#{digest}'"
        end

        # @return [String] the value as JSON, fit for a script element
        def embedded_document = Embedded.json(@value)

        private

        def asset(name) = File.read(File.join(ASSETS, name), encoding: "UTF-8")
      end
    end
  end
end
