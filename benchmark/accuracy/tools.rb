# frozen_string_literal: true

require_relative "tool"

module Accuracy
  # What is compared, by name, in the tables' order. Adapters are loaded without the tools' gems, which only a child loads.
  module Tools
    # file: in tools/; constant: in it; mode: nil without several
    Entry = Data.define(:name, :gem_name, :file, :constant, :mode) do
      # @return [Class]
      def adapter_class
        require_relative "tools/#{file}"
        Accuracy.const_get(constant)
      end

      # @return [Tool]
      def adapter = adapter_class.new(mode)

      # @return [Hash{Symbol => Array<Symbol>}] its words => our parts
      def covers = adapter_class::COVERS.fetch(mode) { adapter_class::COVERS }

      # @return [String] how it is read
      def reading = adapter_class::READING

      # @return [String] of what is loaded: in the child
      def version = ours? ? PumaTuner::VERSION : Gem.loaded_specs.fetch(gem_name).version.to_s

      def ours? = name == OURS
    end

    OURS = "ours"

    ALL = [
      Entry.new(name: OURS, gem_name: "puma_tuner", file: "puma_tuner", constant: :PumaTunerTool, mode: nil),
      Entry.new(name: "rperf_wall", gem_name: "rperf", file: "rperf", constant: :RperfTool, mode: "wall"),
      Entry.new(name: "rperf_cpu", gem_name: "rperf", file: "rperf", constant: :RperfTool, mode: "cpu"),
      Entry.new(name: "vernier", gem_name: "vernier", file: "vernier", constant: :VernierTool, mode: nil),
      Entry.new(name: "pf2_wall", gem_name: "pf2", file: "pf2", constant: :Pf2Tool, mode: "wall"),
      Entry.new(name: "pf2_cpu", gem_name: "pf2", file: "pf2", constant: :Pf2Tool, mode: "cpu"),
      Entry.new(name: "stackprof_wall", gem_name: "stackprof", file: "stackprof", constant: :StackprofTool, mode: "wall"),
      Entry.new(name: "stackprof_cpu", gem_name: "stackprof", file: "stackprof", constant: :StackprofTool, mode: "cpu"),
      Entry.new(name: "gvl_timing", gem_name: "gvl_timing", file: "gvl_timing", constant: :GvlTimingTool, mode: nil),
      Entry.new(name: "gvltools", gem_name: "gvltools", file: "gvltools", constant: :GvltoolsTool, mode: nil)
    ].freeze

    NAMES = ALL.map(&:name).freeze

    # @return [Entry]
    def self.entry(name) = ALL.find { |entry| entry.name == name } || raise(KeyError, "no tool #{name}")
  end
end
