# frozen_string_literal: true

module PumaTuner
  module CLI
    # puma_tuner diff: two profiles.
    class Diff < Dry::CLI::Command
      desc "Tell what got cheaper and what dearer between two profiles, by method, calls and objects"
      argument :before, required: true, desc: "a profile, as `puma_tuner profile` wrote it"
      argument :after, required: true, desc: "another, by the same profiler and mode"
      option :json, desc: "file for all values; without a file, or with -: standard output"
      option :html, desc: "file for an HTML report"
      example ["before.json after.json --html diff.html"]

      def call(before:, after:, json: nil, html: nil, **)
        Output.check_writable(*[json, html].compact)
        profiles = [before, after].map { |path| Document.read(path, :profile) }
        Output.write(PumaTuner::Profile::Diff.new(*profiles).call, out:, err:, json:, html:)
      end
    end
  end
end
