# frozen_string_literal: true

module PumaTuner
  module CLI
    # Any document, once more, in any format.
    class Commands::Report < Command
      desc "Show a result again, as text, HTML, Markdown or JSON"
      argument :document, "file written by any of the other commands"
      options :verbose, :format,
        output: {about: "file for the report; - prints it", default: "-", usual: "it is printed"}
      example ["tmp/puma_tuner/advice.json", "tmp/puma_tuner/verdict.json --format html --output verdict.html"]

      def call(document:, format:, output:)
        Output.check_writable(output)
        bytes = Document.reading(document) do |value|
          Report.render(value, format: format.to_sym, **rendering(format, output))
        end
        Output.put(bytes, output, out:)
      end
    end
  end
end
