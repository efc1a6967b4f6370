# frozen_string_literal: true

require "rbconfig"

module PumaTuner
  module Calibrate
    # Ruby code in a process of its own, where no other thread is: the Ruby that runs us, without gems, and without settings
    # that would change what is measured.
    module FreshRuby
      # Beyond what the code itself takes.
      SPARE_S = 20

      LIBRARY_FOLDER = File.expand_path("../..", __dir__)
      ENVIRONMENT = {"RUBYOPT" => nil, "RUBYLIB" => nil, "RUBY_THREAD_TIMESLICE" => nil}.freeze

      # @param code [String]
      # @return [Array<String>] for Process.spawn
      def self.words(code) = [ENVIRONMENT, RbConfig.ruby, "--disable-gems", "-I", LIBRARY_FOLDER, "-rpuma_tuner", "-e", code]

      # @param code [String] its value is an Array<Integer>
      # @param expected_s [Numeric]
      # @return [Array<Integer>]
      # @raise [VoidMeasurement]
      def self.numbers(code, expected_s:)
        output, status = Load::Child.output_of(words("puts((#{code}).join(' '))"), limit_s: expected_s + SPARE_S)
        raise VoidMeasurement, "a probe that takes #{expected_s.ceil} s did not end within #{(expected_s + SPARE_S).ceil} s; is the machine very busy?" unless output
        raise InvariantError, "a probe failed (#{status}): #{output.lines.first(5).join.strip}" unless status.success?
        output.split.map { |word| Integer(word) }
      end
    end
  end
end
