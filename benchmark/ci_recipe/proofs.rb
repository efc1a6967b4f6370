# frozen_string_literal: true

require "fileutils"
require "json"
require "open3"
require "tmpdir"
require_relative "history"

module CiRecipe
  # What the recipe said of a pull request.
  #
  # kind: see PullRequest; commit: that it is made of; code: its exit code; ratio: of CPU per request, with its interval; nil where nothing was measured
  # seconds: that it took, the last time; attempts_count: 2 where nothing was measured at first; at: when it was said, in seconds since 1970
  Said = Data.define(:kind, :commit, :code, :ratio, :rounds_count, :seconds, :attempts_count, :at) do
    # @param fields [Hash{String => Object}] of a line of the journal
    # @return [Said]
    def self.from(fields)
      ratio = PumaTuner::Stats::Estimate.from_document(fields["ratio"]) if fields["ratio"]
      new(**members.to_h { |member| [member, fields.fetch(member.to_s)] }, ratio:)
    end

    # @return [Hash{Symbol => Object}] for the journal
    def fields = {**to_h, ratio: ratio&.to_document}

    # @return [Boolean] whether the recipe judged by what it measured
    def measured? = [0, 1].include?(code)

    # Of too few rounds there is a range and no interval.
    #
    # @return [Boolean] whether a request is shown to take more; where it fails otherwise, the noise left it open
    def regression? = code == 1 && !ratio&.level_ratio.nil? && ratio.low > 1

    # @return [Boolean]
    def passed? = code == 0

    # @return [Boolean] whether it can't be told from this: neither less than the margin, nor more than before; or nothing was measured
    def open? = !passed? && !regression?
  end

  # The code that proves: the command, the probe with its extensions, and the recipe. It is set aside as a run begins, so that
  # whoever changes the checkout in these hours, or compiles in it, changes nothing of what is measured; and a run that was
  # interrupted goes on with what its page names.
  class Code
    PARTS = %w[exe lib probe ops/ci].freeze
    SCRIPT = "ops/ci/prove_pull_request.sh"

    # @param folder [String] where it lies
    def initialize(folder = Bench::PROJECT) = @folder = folder

    # @param project [String] a checkout, compiled
    # @return [void]
    def set_aside(project)
      FileUtils.rm_rf(@folder)
      PARTS.each do |part|
        FileUtils.mkdir_p(place = File.dirname(File.join(@folder, part)))
        FileUtils.cp_r(File.join(project, part), place)
      end
    end

    # @raise [PumaTuner::UsageError] where it is gone
    def ensure_there
      return if File.file?(script)
      raise PumaTuner::UsageError, "the code that this run began with is no longer in #{@folder}. --fresh begins anew."
    end

    # @return [String] path of the recipe
    def script = File.join(@folder, SCRIPT)

    # @return [String] what starts the command, in a shell
    def command = "#{RbConfig.ruby} -I#{File.join(@folder, "lib")} #{File.join(@folder, "exe/puma_tuner")}"
  end

  # What was said so far, on disk, a line as soon as it is there: an interrupted run goes on from it.
  #
  #   {"kind": "run", …}   the layout of these lines, the commit where the history ends, when it was begun, on which machine
  #   {"kind": "share", …}, {"kind": "harmless", …}, {"kind": "regression", …}   see Said
  #
  # Where nothing was measured, which has causes of its own, an interrupted run tries again.
  class Journal
    # Of the lines, of how regressions are planted, and of the words that the recipe is given. What was written by another
    # one can't be gone on with.
    LAYOUT = 3

    FOLDER = File.join(Bench::PROJECT, "tmp/ci_recipe")

    # @param path [String] of the file, which no other run may go on with meanwhile
    # @param fresh [Boolean] whether to begin anew; what was said before stays beside it
    # @raise [PumaTuner::UsageError] where it has another layout, or another run writes into it
    def initialize(path, fresh: false)
      @path = path
      FileUtils.mkdir_p(File.dirname(path))
      FileUtils.mv(path, "#{path}.#{File.mtime(path).utc.strftime("%Y%m%dT%H%M%S")}") if fresh && File.file?(path)
      @file = File.open(path, "a+")
      raise PumaTuner::UsageError, "another run writes into #{path}" unless @file.flock(File::LOCK_EX | File::LOCK_NB)
      PumaTuner::Prove::Journal.end_line(path)
      @lines = PumaTuner::Prove::Journal.values(path)
      raise PumaTuner::UsageError, "#{path} was written by another version of this program; --fresh begins anew" if run && run["layout"] != LAYOUT
    end

    # @param machine [PumaTuner::Probe::MachineFacts] with which it is gone on
    # @raise [PumaTuner::UsageError] where it was begun on another kind of machine
    def ensure_same(machine)
      before, now = [run.fetch("machine"), machine.to_document.transform_keys(&:to_s)]
        .map { |facts| facts.values_at("cpu_model", "cores_count") }
      return if before == now
      raise PumaTuner::UsageError, "#{@path} was begun on another machine: #{before}, and this is #{now}. --fresh begins anew."
    end

    # @return [Hash{String => Object}, nil] the first line
    def run = @lines.find { |line| line["kind"] == "run" }

    # @return [Said, nil]
    def said(kind, commit) = all_said.find { |said| said.kind == kind && said.commit == commit && said.measured? }

    # @return [Integer] how often nothing was measured
    def void_count = all_said.sum { |said| said.attempts_count - (said.measured? ? 1 : 0) }

    # @param fields [Hash] to be written
    def add(fields)
      line = JSON.generate(fields)
      @file.puts(line)
      @file.flush
      @lines << JSON.parse(line)
    end

    # @return [void]
    def close = @file.close

    private

    def all_said = @lines.select { |line| line.is_a?(Hash) && line.key?("code") }.map { |line| Said.from(line) }
  end

  # The recipe, as it stands in ops/ci, on pull requests of a repository.
  class Proofs
    # Once more where nothing was measured: a machine that was too busy for a moment says nothing of the recipe.
    ATTEMPTS_COUNT = 2

    # Of the caller's shell, which would change what is proven.
    NONE = %w[LOOKS MARGIN TIME].to_h { |name| [name, nil] }.freeze
    private_constant :NONE

    # The summary in Markdown that the recipe wrote last, or nil, and what it printed.
    attr_reader :summary, :printed

    # @param folder [String] of the app, in its repository
    # @param path [String] that is asked for
    # @param variables [Hash{String => String}] of the script
    # @param words [Array<String>] for `puma_tuner prove`
    # @param code [Code] that proves
    # @param kept [String, nil] folder for the verdicts, in Markdown and JSON
    # @param say [#call]
    def initialize(folder, path:, variables: {}, words: [], code: Code.new, kept: nil, say: ->(_) {})
      @folder = folder
      @words = ["config.ru", "--path", path, *words]
      @variables = {**NONE, **variables}
      @code = code
      @kept = kept
      @say = say
    end

    # @param pull_request [PullRequest]
    # @param commit [String] that it is told by
    # @param seed [Integer] of the order of trials
    # @param variables [Hash{String => String}] of the script, for this one
    # @return [Said]
    def call(pull_request, commit: pull_request.head, seed: 1, variables: {})
      checkout(pull_request.head)
      (1..ATTEMPTS_COUNT).each do |attempt|
        said = once(pull_request, commit, seed, attempt, variables)
        @say.call(line(said))
        return said if said.measured?
        @say.call(last_printed)
        return said if attempt == ATTEMPTS_COUNT
        @say.call("nothing was measured, so it is tried once more")
      end
    end

    # @return [String] the last lines that the recipe printed; none before it did
    def last_printed = @printed.to_s.lines.last(5).map { |text| "  | #{text}" }.join.chomp

    private

    # With the pull request checked out, as in a CI.
    def checkout(head)
      output, status = Open3.capture2e("git", "-C", @folder, "checkout", "--quiet", head)
      raise PumaTuner::UsageError, "git checkout #{head}: #{output}" unless status.success?
    end

    def once(pull_request, commit, seed, attempt, variables)
      Dir.mktmpdir("puma_tuner-ci") do |folder|
        file = File.join(folder, "verdict.md")
        began_s = PumaTuner::Clock.now_s
        given = {**environment(folder), "BASE" => pull_request.base, **@variables, **variables, "SUMMARY" => file}
        @printed, status = Open3.capture2e(given, "sh", @code.script, *@words, "--seed", seed.to_s, chdir: @folder)
        @summary = (File.read(file) if File.file?(file))
        verdict = PumaTuner::Document.read(file.sub(/md\z/, "json"), :verdict) if File.file?(file.sub(/md\z/, "json"))
        keep(file, [pull_request.kind, commit[0, 8], attempt].join("-"))
        # As a shell tells what a signal has ended.
        Said.new(kind: pull_request.kind, commit:, code: status.exitstatus || 128 + status.termsig,
          ratio: verdict&.comparison("change", "cpu_per_request")&.ratio, rounds_count: verdict&.rounds_count,
          seconds: PumaTuner::Clock.now_s - began_s, attempts_count: attempt, at: Time.now.to_i)
      end
    end

    # What a false alarm can be looked into by.
    def keep(file, name)
      return unless @kept
      FileUtils.mkdir_p(@kept)
      there = [file, file.sub(/md\z/, "json")].select { |path| File.file?(path) }
      there.each { |path| FileUtils.cp(path, File.join(@kept, "#{name}#{File.extname(path)}")) }
    end

    def line(said)
      ratio = said.ratio
      "#{said.kind}, #{said.commit[0, 8]}: code #{said.code}#{", #{PumaTuner::Units.times(ratio.value)} (#{PumaTuner::Units.times(ratio.low)} to #{PumaTuner::Units.times(ratio.high)})" if ratio}, " \
        "#{said.rounds_count || "no"} rounds, #{said.seconds.round} s"
    end

    # A `puma_tuner` on the path, as a CI has it.
    def environment(folder)
      program = File.join(folder, "bin/puma_tuner")
      FileUtils.mkdir_p(File.dirname(program))
      File.write(program, "#!/bin/sh\nexec #{@code.command} \"$@\"\n", perm: 0o755)
      {"PATH" => "#{File.dirname(program)}:#{ENV["PATH"]}"}
    end
  end
end
