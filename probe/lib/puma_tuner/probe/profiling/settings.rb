# frozen_string_literal: true

module PumaTuner
  module Probe
    module Profiling
      # The settings that the target process is told, by its environment.
      #
      # profiler: its name; mode: one of its own; interval_us: between samples, nil: the profiler's own
      # folder: where its files go, absolute; scope: "window" (all that happens between two orders), "outliers" (the
      #   same, and a log of the requests) or "request" (single requests that carry the token)
      # paths: of the profiler's library, put at the end of $LOAD_PATH
      Settings = Data.define(:profiler, :mode, :interval_us, :folder, :scope, :token, :paths)

      class Settings
        VARIABLE = "PUMA_TUNER_PROFILE"

        # Libraries are compiled for one.
        RUBY = RUBY_VERSION[/\A\d+\.\d+/]

        # No path can hold what separates paths.
        SEPARATOR = File::PATH_SEPARATOR

        # Lines, as to load JSON in the target would choose its version before the app does.
        #
        # @return [Hash{String => String}] for the target's environment
        def to_environment
          lines = {profiler:, mode:, interval_us:, folder:, scope:, token:, paths: paths.join(SEPARATOR),
                   ruby: RUBY}.compact
          {VARIABLE => lines.map { |name, value| "#{name}=#{value}" }.join("\n")}
        end

        # @return [Settings, nil] nil when nobody wants a profile; without paths in another Ruby than the one that they
        #   are for, which could load what is there, and crash
        def self.from_environment(environment = ENV)
          text = environment[VARIABLE] or return
          given = text.each_line(chomp: true).to_h { |line| line.split("=", 2) }
          given.delete("paths") unless given["ruby"] == RUBY
          new(**members.to_h { |name| [name, given[name.to_s]] }, interval_us: given["interval_us"]&.to_i,
            paths: given["paths"].to_s.split(SEPARATOR))
        end
      end
    end
  end
end
