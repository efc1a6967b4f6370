# frozen_string_literal: true

require "erb"

module PumaTuner
  module Report
    class Html
      # The page and its parts as methods: `page.html.erb` becomes `page_html`, `_bars.html.erb` becomes
      # `bars_html(bars)`. A partial's argument, where it takes one, has the partial's own name.
      module Templates
        # About the whole page: they take nothing.
        WITHOUT_ARGUMENT = %w[page].freeze

        # ERB's own def_method would not see the constants of the modules around the one that evaluates it.
        #
        # @param folder [String]
        # @param without_argument [Array<String>] names of partials
        # @yieldparam source [String] of a method, for each template
        # @yieldparam path [String]
        def self.each_in(folder, without_argument:)
          Dir[File.join(folder, "*.html.erb")].sort.each do |path|
            name = File.basename(path, ".html.erb").delete_prefix("_")
            signature = without_argument.include?(name) ? "#{name}_html" : "#{name}_html(#{name})"
            # Indentation is for those who read the template; in the page it would be a fifth of the bytes.
            source = ERB.new(File.read(path, encoding: "UTF-8").gsub(/^ +/, ""), trim_mode: "-").src
            # The first line is ERB's comment on the encoding; without it the lines are those of the file.
            yield "def #{signature}\n#{source.lines.drop(1).join}\nend", path
          end
        end

        each_in(__dir__, without_argument: WITHOUT_ARGUMENT) { |source, path|
          module_eval(source, path,
            0)
        } # standard:disable Style/EvalWithLocation
      end
    end
  end
end
