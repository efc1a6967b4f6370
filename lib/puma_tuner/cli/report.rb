# frozen_string_literal: true

module PumaTuner
  module CLI
    # puma_tuner report: any document, once more, in any format.
    class Report < Dry::CLI::Command
      desc "Show a document again: as text, HTML, Markdown or JSON"
      argument :document, required: true, desc: "file written by any of the other commands"
      option :format, default: "text", desc: "text, html, markdown or json"
      option :output, desc: "file, default: standard output"

      def call(document:, format:, output: nil, **)
        Output.check_writable(output)
        # The color option is the text renderer's.
        options = (format == "text") ? {color: !output && Output.color?(out)} : {}
        bytes = PumaTuner::Report.render(Document.read(document), format: format.to_sym, **options)
        output ? Output.write_file(output, bytes) : out.puts(bytes)
      end
    end
  end
end
