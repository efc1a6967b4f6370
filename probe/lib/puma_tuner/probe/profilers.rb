# frozen_string_literal: true

module PumaTuner
  module Probe
    # The profilers that work inside of a process: all of profilers/. A new one takes three files of one name and
    # changes none: the profiler here, what reads its file (Profile::Readers), and a test. Those that watch processes
    # from outside are the command's (Profile.profilers).
    module Profilers
      # Constants by file.
      CONSTANTS = Dir.children("#{__dir__}/profilers").to_h { |file|
        name = file.delete_suffix(".rb")
        [name, name.split("_").map(&:capitalize).join.to_sym]
      }.freeze

      CONSTANTS.each { |file, constant| autoload constant, "#{__dir__}/profilers/#{file}" }

      # @param name [String] such as "vernier"
      # @return [Class] which alone is loaded, as a server needs no other
      # @raise [UsageError] for a name that is none
      def self.find(name)
        constant = CONSTANTS[name.tr("-", "_")]
        profiler = const_get(constant) if constant
        return profiler if profiler && name == profiler::NAME
        raise UsageError, "unknown profiler #{name.inspect}; choose one of #{all.map { |one| one::NAME }.join(", ")}"
      end

      # @return [Array<Class>] in the order in which they are told to people
      def self.all = CONSTANTS.values.map { |constant| const_get(constant) }.sort_by { |profiler| -profiler::PRIORITY }
    end
  end
end
