# frozen_string_literal: true

module PumaTuner
  module Probe
    # The profilers that work inside of a process: one file each, profilers/NAME.rb. Those that watch processes from
    # outside are the command's (Profile.profilers).
    module Profilers
      # The profilers by name, in the order in which people are told of them.
      ALL = {"vernier" => :Vernier, "rperf" => :Rperf, "pf2" => :Pf2, "stackprof" => :Stackprof,
             "ruby-prof" => :RubyProf, "memory_profiler" => :MemoryProfiler}.freeze

      ALL.each { |name, constant| autoload constant, "puma_tuner/probe/profilers/#{name.tr("-", "_")}" }

      # @param name [String] such as "vernier"
      # @return [Class]
      # @raise [UsageError] for a name that is none
      def self.find(name)
        const_get(ALL.fetch(name) do
          raise UsageError, "unknown profiler #{name.inspect}; choose one of #{ALL.keys.join(", ")}"
        end)
      end

      # @return [Array<Class>]
      def self.all = ALL.values.map { |constant| const_get(constant) }
    end
  end
end
