# frozen_string_literal: true

require_relative "cell"

module Validation
  # How a subject is started.
  class Servers
    RUBIES = {"3.3" => "3.3.8", "3.4" => "3.4.5"}.freeze
    APP = File.expand_path("apps/config.ru", __dir__)
    GEMFILES = File.expand_path("../../gemfiles", __dir__)
    LIBRARY = File.expand_path("../../probe/lib/puma_tuner/probe/native", __dir__)

    # @param turns_per_ms [Integer] of the app's loop: how much work the workloads are
    # @param folder [String] that may hold a named pipe for each server while it runs, and files of the app's
    def initialize(turns_per_ms:, folder:)
      @turns_per_ms = turns_per_ms
      @folder = folder
      @pipes_count = 0
    end

    # @param subject [Subject]
    # @return [PumaTuner::Host::Command]
    # @raise [PumaTuner::UserMistake] when it can't be had here
    def command(subject)
      insist_on_extension(subject.ruby)
      command = subject.workload.real? ? real(subject.workload) : made(subject)
      command.with(environment: command.environment.merge("RUBY_THREAD_TIMESLICE" => subject.timeslice_ms.to_s, "RACK_ENV" => "production"))
    end

    private

    # Without it a recording holds no traces, and nothing can be predicted.
    def insist_on_extension(ruby)
      return if Dir[File.join(LIBRARY, ruby, "puma_tuner_probe.*")].any?
      raise PumaTuner::UserMistake, "the probe is not compiled for Ruby #{ruby}; run `rake compile` with that Ruby (bin/setup --ruby #{RUBIES.fetch(ruby)} provides it)"
    end

    def real(workload)
      cache = ENV.fetch("PUMA_TUNER_CACHE") { File.join(Dir.home, ".cache/puma_tuner") }
      directory = File.join(cache, "apps", workload.name)
      unless File.file?(File.join(directory, "config.ru"))
        raise PumaTuner::UserMistake, "#{workload.name} is not installed; run labs/real_apps/#{workload.name}/setup"
      end
      PumaTuner::Host::Command.of_words(workload.command, directory:)
    end

    # With gems of its own, as `puma_tuner prove` gives them to a variant.
    def made(subject)
      gemfile = File.join(GEMFILES, "#{subject.workload.gemfile || "puma_#{subject.puma.tr(".", "_")}"}.gemfile")
      base = PumaTuner::Host::Command.of_rackup(APP)
      ruby = ruby(subject.ruby)
      # First on PATH, too: a Bundler that starts itself anew in another version takes the first Ruby that it finds there.
      environment = base.environment.merge("PATH" => "#{File.dirname(ruby)}:#{base.environment["PATH"]}")
      bundle = PumaTuner::Prove::Bundle.new(gemfile:, gems: {}, ruby:, environment:, say: method(:warn)).install
      environment, words = bundle.around(environment, base.words)
      base.with(words:, environment: {**environment, **steps(subject.workload), **tokens(subject.workload)})
    end

    def steps(workload)
      {"VALIDATION_STEPS" => workload.steps, "VALIDATION_BACKGROUND" => workload.background, "VALIDATION_TURNS_PER_MS" => @turns_per_ms.to_s,
       "VALIDATION_FOLDER" => @folder}.compact
    end

    # Each command has a pipe of its own: who was killed with a token in hand takes it along.
    def tokens(workload)
      return {} unless workload.limit_count
      {"VALIDATION_TOKENS" => File.join(@folder, "tokens-#{@pipes_count += 1}"), "VALIDATION_TOKENS_COUNT" => workload.limit_count.to_s}
    end

    def ruby(series)
      RUBY_VERSION.start_with?("#{series}.") ? Gem.ruby : PumaTuner::Prove::Rubies.find(RUBIES.fetch(series))
    end
  end
end
