# frozen_string_literal: true

require "rbconfig"

module PumaTuner
  module Calibrate
    # Ruby code in a process of its own, where no other thread is: the Ruby that runs us or another, without gems, and
    # without settings that would change what is measured.
    module FreshRuby
      # The process may take so long beyond what the code itself takes.
      SPARE_S = 20

      # Processes that are to do something at the same time have begun by then.
      LEAD_S = 0.15

      ENVIRONMENT = {"RUBYOPT" => nil, "RUBYLIB" => nil, "RUBY_THREAD_TIMESLICE" => nil}.freeze

      # @param code [String]
      # @param ruby [String] path of the executable
      # @param core [Integer, nil] that it is bound to
      # @return [Array<String>] for Process.spawn
      def self.words(code, ruby: RbConfig.ruby, core: nil)
        [ENVIRONMENT, *(Host::Placement.bound([core]) if core), ruby, "--disable-gems", "-I", LIBRARY_PATH,
          "-rpuma_tuner", "-e", code]
      end

      # @param code [String] its value is an Array<Integer>
      # @param expected_s [Numeric]
      # @return [Array<Integer>]
      # @raise [InvalidMeasurement]
      def self.numbers(code, expected_s:, **)
        output, status = Host::Child.output_of(words("puts((#{code}).join(' '))", **), limit_s: expected_s + SPARE_S)
        unless output
          raise InvalidMeasurement, "a calibration step that takes #{expected_s.ceil} s did not end within " \
            "#{(expected_s + SPARE_S).ceil} s. Run this again when the machine is less busy."
        end
        unless status.success?
          raise InvariantError, "a calibration step failed (#{status}): " \
            "#{output.lines.first(5).join.strip}"
        end
        output.split.map { |word| Integer(word) }
      end

      # In several processes at the same time.
      #
      # @param count [Integer]
      # @param expected_s [Numeric]
      # @yieldparam number [Integer] of the process, from 0
      # @yieldreturn [String] its code, as above
      # @return [Array<Array<Integer>>] of each process
      # @raise [InvalidMeasurement]
      def self.numbers_of_each(count, expected_s:)
        processes = Array.new(count) do |number|
          code = yield(number)
          Thread.new { numbers(code, expected_s:) }
        end
        processes.each { |thread| thread.report_on_exception = false }
        processes.map(&:value)
      ensure
        # To join one that has failed would raise before the others are killed.
        processes&.each(&:kill)&.select(&:alive?)&.each(&:join)
      end

      # @param ruby [String] path of the executable
      # @return [Array(String, String)] its version and its description
      # @raise [UsageError] when it can't be calibrated
      def self.facts(ruby)
        return [RUBY_VERSION, RUBY_DESCRIPTION] if ruby == RbConfig.ruby
        words = [ENVIRONMENT, ruby, "--disable-gems", "-e", "puts RUBY_ENGINE, RUBY_VERSION, RUBY_DESCRIPTION"]
        output, status = Host::Child.output_of(words, limit_s: SPARE_S)
        engine, version, description = output.to_s.lines(chomp: true)
        oldest = Host::UserEnvironment::OLDEST_RUBY
        if status&.success? && engine == "ruby" && Gem::Version.new(version) >= Gem::Version.new(oldest)
          return [version, description]
        end
        raise UsageError, "#{ruby} is not CRuby #{oldest} or newer. Give the path of one that is."
      end
    end
  end
end
