# frozen_string_literal: true

module PumaTuner
  module CLI
    # Lanes that `measure --lanes` has recorded, of one recording or of several, in any format.
    class Commands::Lanes < Command
      desc "Show what each thread did when: who had the GVL, and who could run and did nothing"
      argument :recording, "file written by `puma_tuner measure --lanes`; its other settings are shown, too"
      options :verbose, :beside,
        format: {about: "text, html, markdown, json, firefox (for profiler.firefox.com) or perfetto (for " \
                        "ui.perfetto.dev)"},
        output: {about: "file for it; - prints it", default: "-", usual: "it is printed"}
      example [
        "tmp/puma_tuner/observation.json --format html --output lanes.html",
        "five.json --beside three.json --format html --output lanes.html   # one below the other, at one scale",
        "tmp/puma_tuner/observation.json --format perfetto --output lanes.trace.json"
      ]

      # What other programs open.
      WRITERS = {"firefox" => PumaTuner::Lanes::Firefox, "perfetto" => PumaTuner::Lanes::Perfetto}.freeze

      def call(recording:, beside:, format:, output:)
        Output.check_writable(output)
        check(format)
        paths = [recording, *beside]
        bytes = Document.fitting(*paths) { bytes(join(paths), format, output) }
        Output.put(bytes, output, out:)
        err.puts("lanes: #{File.expand_path(output)}") unless output == "-"
      end

      private

      def check(format)
        formats = [*Report.formats, *WRITERS.keys].map(&:to_s)
        return if formats.include?(format)
        raise UsageError, "unknown format #{format.inspect}; choose one of #{formats.join(", ")}"
      end

      # @raise [UsageError] when a file has none
      def join(paths)
        all = paths.map do |path|
          value = Document.read(path, :observation, :lanes)
          value = PumaTuner::Lanes::Comparison.of(value) unless value.is_a?(PumaTuner::Lanes::Comparison)
          if value.recordings.empty?
            raise UsageError, "#{path} has no lanes; record them with `puma_tuner measure --lanes`"
          end
          value
        end
        PumaTuner::Lanes::Comparison.new(recordings: all.flat_map(&:recordings).freeze)
      end

      def bytes(comparison, format, output)
        writer = WRITERS[format]
        return writer.new(comparison, Report::Sections::Lanes::WORDS.transform_values(&:first)).to_s if writer
        Report.render(comparison, format: format.to_sym, **rendering(format, output))
      end
    end
  end
end
