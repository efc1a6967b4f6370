# frozen_string_literal: true

require "digest"
require "erb"

module PumaTuner
  module Report
    class Html
      # The page that a writer fills, and what the charts' templates see of it: style, script, the document itself, and
      # `h`, through which all text must go.
      class Page
        ASSETS = File.join(__dir__, "assets")

        class << self
          # Makes methods of a folder's templates: `page.html.erb` becomes `page_html`, and a partial such as
          # `_bars.html.erb` takes an argument of its own name, `bars_html(bars)`. ERB's own def_method would not see
          # the constants of the modules around this one.
          #
          # @param folder [String]
          def draw_with(folder)
            Dir[File.join(folder, "*.html.erb")].sort.each do |path|
              name = File.basename(path, ".html.erb")
              signature = name.start_with?("_") ? "#{name[1..]}_html(#{name[1..]})" : "#{name}_html"
              # Indentation is for those who read the template; in the page it would be a fifth of the bytes.
              source = ERB.new(File.read(path, encoding: "UTF-8").gsub(/^ +/, ""), trim_mode: "-").src
              # The first line is ERB's comment on the encoding; without it the lines are those of the file.
              code = "def #{signature}\n#{source.lines.drop(1).join}\nend"
              module_eval(code, path, 0) # standard:disable Style/EvalWithLocation
            end
          end
        end

        draw_with(__dir__)

        # @return [String]
        attr_reader :title

        # @param value [Data] any document
        # @param title [String]
        # @yieldreturn [String] what stands between the page's beginning and its end
        def initialize(value, title:, &content)
          @value = value
          @title = title
          @content = content
        end

        # @return [String] the whole page
        def page = page_html

        # @return [String]
        def content_html = @content.call

        # @return [String] text in which nothing is markup
        def h(text) = ERB::Util.html_escape(Figures.printable(text))

        # @return [String] the same for sentences: a range in brackets stays on one line, and what stands in backquotes
        #   is code
        def prose(text)
          h(text).gsub(/\([\d.]+–[^()\s]+( [^()\s]+)?\)/) { |range| %(<span class="together">#{range}</span>) }
            .gsub(/`([^`<>]+)`/) { code($1) }
        end

        # @param words [String] that somebody types, as HTML
        # @return [String] in which no line breaks inside of an option's name
        def code(words)
          "<code>#{words.gsub(/--\w[\w-]*/) { |option| %(<span class="together">#{option}</span>) }}</code>"
        end

        # @return [String] CSS
        def stylesheet = @stylesheet ||= asset("tuner.css") + charts.map { |name| asset("#{name}.css") }.join

        # @return [String] JavaScript
        def script = @script ||= asset("tuner.js") + charts.map { |name| asset("#{name}.js") }.join

        # @return [String] allows our own script and nothing else, whatever might slip through an escape
        def content_security_policy
          digest = Digest::SHA256.base64digest(script)
          "default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-#{digest}'"
        end

        # @return [String] the value as JSON, fit for a script element
        def embedded_document = Embedded.json(@value)

        private

        # Charts that few pages have bring style and script of their own.
        def charts
          return %w[flame_graph] if @value.class::KIND == :profile
          observation = @value.respond_to?(:observation) ? @value.observation : @value
          lanes = @value.class::KIND == :lanes || (observation.respond_to?(:lanes) && lanes_of?(observation))
          lanes ? %w[lanes] : []
        end

        def lanes_of?(observation) = [observation, *observation.companions].any? { |one| one.lanes&.any? }

        def asset(name) = File.read(File.join(ASSETS, name), encoding: "UTF-8")
      end
    end
  end
end
