# frozen_string_literal: true

module PumaTuner
  module CLI
    # Two profiles.
    class Commands::Diff < Command
      desc "Show what got cheaper and what more expensive between two profiles, by method, calls and objects"
      argument :before, "a profile, as `puma_tuner profile` wrote it"
      argument :after, "another, by the same profiler and mode"
      options :html, :output
      example ["before.json after.json --html diff.html"]

      def call(before:, after:, output:, html:)
        Output.check_writable(output, html)
        old = Document.read(before, :profile)
        found = Document.reading(after, :profile) { |new| Profile::Diff.new(old, new).call }
        Output.write(found, **telling, path: output, html:)
      end
    end
  end
end
