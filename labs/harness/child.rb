# frozen_string_literal: true

require "json"
require "shellwords"
require "tempfile"

module PumaTuner
  module Lab
    # One of a lab's programs, run once in a process of its own: what it prints on standard output is its result, as
    # JSON. It never outlives the call, nor does what it started.
    module Child
      OUTPUT_LINES = 12

      # @param command [Host::Command] that ends in a Ruby
      # @param file [String] the program
      # @param words [Array<String>] for it
      # @param limit_s [Numeric]
      # @return [Object] what it answered
      # @raise [UsageError] when it can't be started
      # @raise [MeasurementFailed] when it failed, took too long, or answered no JSON
      def self.call(command, file, words = [], limit_s: 120)
        # Files, as what the program starts could hold the end of a pipe open.
        Tempfile.create do |out|
          Tempfile.create do |err|
            problem = problem_of(run(command, [file, *words], out, err, limit_s), limit_s)
            return JSON.parse(text(out)) unless problem
            fail_with(problem, command, [file, *words], err)
          rescue JSON::ParserError
            fail_with("printed no JSON", command, [file, *words], err)
          end
        end
      end

      class << self
        private

        # @return [Process::Status, nil] nil when it took too long
        def run(command, words, out, err, limit_s)
          child = Host::Child.new(command.environment, *command.words, *words, in: File::NULL, out:, err:,
            chdir: command.directory, unsetenv_others: true)
          child.start
          child.wait(limit_s)
        rescue SystemCallError => error
          raise UsageError, "#{command} could not be started: #{error.message}. Is it installed?"
        ensure
          child&.stop
        end

        def problem_of(status, limit_s)
          return "took longer than #{limit_s} s" unless status
          "failed (#{status.to_s.sub(/\Apid \d+ /, "")})" unless status.success?
        end

        def fail_with(problem, command, words, err)
          gems = command.environment["PUMA_TUNER_LAB_GEMS"]
          raise MeasurementFailed.new("a program of the lab #{problem}: #{words.shelljoin}#{" with #{gems}" if gems}.",
            output: text(err).lines(chomp: true).last(OUTPUT_LINES))
        end

        def text(file) = File.binread(file.path).force_encoding(Encoding::UTF_8).scrub
      end
    end
  end
end
