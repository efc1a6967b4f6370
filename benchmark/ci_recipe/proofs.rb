# frozen_string_literal: true

require "tmpdir"
require_relative "history"

module CiRecipe
  # What the recipe said of a pull request. kind: which; code: its exit code; ratio: of CPU per request, with its interval; nil where nothing was measured
  # seconds: that it took; summary: what it wrote in Markdown
  Said = Data.define(:kind, :code, :ratio, :rounds_count, :seconds, :summary, :printed)

  # The recipe, as it stands in ops/ci, on pull requests of a repository.
  class Proofs
    SCRIPT = File.join(Bench::PROJECT, "ops/ci/prove_pull_request.sh")

    # @param history [History]
    # @param variables [Hash{String => String}] of the script
    # @param words [Array<String>] for `puma_tuner prove`
    # @param say [#call]
    def initialize(history, variables: {}, words: [], say: ->(_) {})
      @history = history
      @variables = {"BASE" => "main", **variables}
      @words = words
      @say = say
    end

    # @param kind [String] of the pull request
    # @param seed [Integer] of the order of trials
    # @return [Said]
    def call(kind, seed: 1)
      @history.checkout(kind)
      Dir.mktmpdir("puma_tuner-ci") do |folder|
        summary = File.join(folder, "verdict.md")
        began_s = PumaTuner::Clock.now_s
        printed, status = Open3.capture2e(environment(folder).merge(@variables, "SUMMARY" => summary), "sh", SCRIPT, "config.ru", "--path", "/articles", "--seed", seed.to_s, *@words, chdir: @history.folder)
        said(kind, status.exitstatus, summary, PumaTuner::Clock.now_s - began_s, printed).tap { |said| @say.call(line(said)) }
      end
    end

    # @return [Float] the share of a request's CPU that the rows of its list take
    # @raise [PumaTuner::MeasurementFailed] where that can't be told
    def rows_share
      said = call(History::TWICE)
      said.ratio ? said.ratio.value - 1 : raise(PumaTuner::MeasurementFailed, "the recipe could not measure: #{said.printed.lines.last(5).join}")
    end

    private

    def said(kind, code, summary, seconds, printed)
      json = summary.sub(/md\z/, "json")
      verdict = PumaTuner::Document.read(json, :verdict) if File.file?(json)
      Said.new(kind:, code:, ratio: verdict&.comparison("change", "cpu_per_request")&.ratio, rounds_count: verdict&.rounds_count, seconds:,
        summary: (File.read(summary) if File.file?(summary)), printed:)
    end

    def line(said)
      ratio = said.ratio
      "#{said.kind}: code #{said.code}#{", #{PumaTuner::Units.times(ratio.value)} (#{PumaTuner::Units.times(ratio.low)} to #{PumaTuner::Units.times(ratio.high)})" if ratio}, " \
        "#{said.rounds_count} rounds, #{said.seconds.round} s"
    end

    # A `puma_tuner` on the path, as a CI has it.
    def environment(folder)
      program = File.join(folder, "bin/puma_tuner")
      FileUtils.mkdir_p(File.dirname(program))
      File.write(program, "#!/bin/sh\nexec #{RbConfig.ruby} -I#{Bench::LIBRARY_FOLDER} #{Bench::PROJECT}/exe/puma_tuner \"$@\"\n", perm: 0o755)
      {"PATH" => "#{File.dirname(program)}:#{ENV["PATH"]}"}
    end
  end
end
