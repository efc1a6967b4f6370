# frozen_string_literal: true

require "rbconfig"
require_relative "../support/spin"

module Accuracy
  # One sample, taken in a fresh process with the rivals' gems.
  class Trial
    CHILD = File.expand_path("child.rb", __dir__)
    LIBRARY_FOLDER = File.expand_path("../../lib", __dir__)
    GEMFILE = File.expand_path("../../gemfiles/rivals.gemfile", __dir__)
    BLAME_CHILD = File.expand_path("blame/child.rb", __dir__)
    BLAME_S = 10
    # A second, in ms: longer than anything that the children compute in one go.
    NO_SLICES = {"RUBY_THREAD_TIMESLICE" => "1000"}.freeze
    LIMIT_S = 60
    CHECK_LIMIT_S = 60

    # Whatever would make Ruby, Puma or the library behave otherwise.
    ENVIRONMENT = {"BUNDLE_GEMFILE" => GEMFILE, "RUBYOPT" => "-rbundler/setup", "RUBY_MN_THREADS" => nil,
                   "RUBY_THREAD_TIMESLICE" => nil, "PUMA_TUNER_MEASURE" => nil, "PUMA_TUNER_DIRECTORY" => nil}.freeze

    # @param scale [Float]
    # @raise [PumaTuner::UserMistake] when children can't be started here
    def initialize(scale:)
      @scale = scale
      @spin_folder = Spin.build
      insist_on_gems
    end

    # @param tool [Tools::Entry]
    # @param workload [String]
    # @return [Sample, Failure]
    def run(tool, workload) = answer(command(tool, workload)) { |said| Sample.parse(said, covers: tool.covers) }

    # @param scenario [Blame::Scenarios::Entry]
    # @return [Blame::Sample, Failure]
    def blame(scenario)
      command = [ENVIRONMENT.merge(NO_SLICES), RbConfig.ruby, "-I", LIBRARY_FOLDER, BLAME_CHILD, scenario.name, (BLAME_S * @scale).to_s]
      answer(command) { |said| Blame::Sample.parse(said, holders: scenario.holders) }
    end

    private

    # The library is there for the one tool that it is about.
    def command(tool, workload)
      own = tool.ours? ? ["-I", LIBRARY_FOLDER] : []
      [ENVIRONMENT, RbConfig.ruby, *own, "-I", @spin_folder, CHILD, tool.name, workload, @scale.to_s]
    end

    # @yieldparam said [String] JSON
    # @yieldreturn [Sample, Blame::Sample]
    # @return [Sample, Blame::Sample, Failure]
    def answer(command)
      output, status = PumaTuner::Load::Child.output_of(command, limit_s: LIMIT_S)
      return Failure.new(kind: "hung", reason: "not done within #{LIMIT_S} s") unless output
      said = output[/^accuracy (.+)$/, 1]
      (status.success? && said) ? yield(said) : Failure.of_child(output, status)
    end

    def insist_on_gems
      _, status = PumaTuner::Load::Child.output_of([ENVIRONMENT, RbConfig.ruby, "-e", ""], limit_s: CHECK_LIMIT_S)
      return if status&.success?
      raise PumaTuner::UserMistake, "the tools to compare with are not installed; run bin/setup --test, or bundle install with " \
                                    "gemfiles/rivals.gemfile"
    end
  end
end
