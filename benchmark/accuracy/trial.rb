# frozen_string_literal: true

require "etc"
require "rbconfig"
require_relative "../support/bench"
require_relative "blame"
require_relative "tools"
require_relative "truth"

module Accuracy
  # Processes that compute, one for each core. They end when their standard input does, so none outlives this process.
  class Spinners
    PROGRAM = "Thread.new { $stdin.read; exit! }; loop {}"
    # Until they are up and the scheduler has placed them.
    SETTLE_S = 1

    # Runs the block beside them.
    def self.run(&)
      spinners = new
      spinners.start
      yield
    ensure
      spinners&.stop
    end

    def start
      input, @lifeline = IO.pipe
      @children = Array.new(Etc.nprocessors) do
        PumaTuner::Host::Child.new({"RUBYOPT" => nil}, RbConfig.ruby, "--disable-gems", "-e", PROGRAM, in: input, out: File::NULL)
      end
      @children.each(&:start)
      input.close
      sleep SETTLE_S
    end

    def stop
      @lifeline&.close
      @children&.each(&:stop)
    end
  end

  # One sample, taken in a fresh process with the rivals' gems.
  class Trial
    CHILD = File.expand_path("child.rb", __dir__)
    GEMFILE = File.expand_path("../../gemfiles/rivals.gemfile", __dir__)
    BLAME_CHILD = File.expand_path("blame_child.rb", __dir__)
    BLAME_S = 10
    # A second, in ms: longer than anything that the children compute in one go.
    NO_SLICES = {"RUBY_THREAD_TIMESLICE" => "1000"}.freeze
    LIMIT_S = 60
    CHECK_LIMIT_S = 60

    # Whatever would make Ruby, Puma or the library behave otherwise.
    ENVIRONMENT = {"BUNDLE_GEMFILE" => GEMFILE, "RUBYOPT" => "-rbundler/setup", "RUBY_MN_THREADS" => nil,
                   "RUBY_THREAD_TIMESLICE" => nil, "PUMA_TUNER_MEASURE" => nil, "PUMA_TUNER_DIRECTORY" => nil}.freeze

    # @param scale [Float]
    # @raise [PumaTuner::UsageError] when children can't be started here
    def initialize(scale:)
      @scale = scale
      @spin_folder = Bench::Native.build(__dir__, "accuracy_spin")
      ensure_gems_installed
    end

    # @param tool [Tools::Entry]
    # @param workload [String]
    # @return [Sample, Bench::Failure]
    def run(tool, workload) = answer(command(tool, workload)) { |said| Sample.parse(said, covers: tool.covers) }

    # @param scenario [Blame::Scenarios::Entry]
    # @return [Blame::Sample, Bench::Failure]
    def blame(scenario)
      command = [ENVIRONMENT.merge(NO_SLICES), RbConfig.ruby, "-I", Bench::LIBRARY_FOLDER, BLAME_CHILD, scenario.name, (BLAME_S * @scale).to_s]
      answer(command) { |said| Blame::Sample.parse(said, holders: scenario.holders) }
    end

    private

    # The library is there for the one tool that it is about.
    def command(tool, workload)
      own = tool.ours? ? ["-I", Bench::LIBRARY_FOLDER] : []
      [ENVIRONMENT, RbConfig.ruby, *own, "-I", @spin_folder, CHILD, tool.name, workload, @scale.to_s]
    end

    # @yieldparam said [String] JSON
    # @yieldreturn [Sample, Blame::Sample]
    # @return [Sample, Blame::Sample, Bench::Failure]
    def answer(command)
      output, status = PumaTuner::Host::Child.output_of(command, limit_s: LIMIT_S)
      return Bench::Failure.new(kind: "hung", reason: "not done within #{LIMIT_S} s") unless output
      said = output[/^accuracy (.+)$/, 1]
      (status.success? && said) ? yield(said) : Bench::Failure.of_child(output, status)
    end

    def ensure_gems_installed
      _, status = PumaTuner::Host::Child.output_of([ENVIRONMENT, RbConfig.ruby, "-e", ""], limit_s: CHECK_LIMIT_S)
      return if status&.success?
      raise PumaTuner::UsageError, "the tools to compare with are not installed; run bin/setup --test, or bundle install with " \
                                    "gemfiles/rivals.gemfile"
    end
  end
end
