# frozen_string_literal: true

module PumaTuner
  module Probe
    # Ruby's lock around the hooks of threads is copied at a fork as it is (Bug #21959): when a thread of the parent was
    # in a hook just then, a child that puts in a hook of its own waits forever. So ours is put in where servers are
    # forked from, and where that was not done, in no child of a process in which others may have one.
    module OtherHooks
      # Versions in which the child begins with a new lock.
      FIXED = {"3.3" => "3.3.11", "3.4" => "3.4.10", "4.0" => "4.0.4"}.freeze

      # These tools install hooks; they are known by the names of their extensions.
      TOOLS = %r{/(gvltools|gvl_timing|gvl_tracing|vernier|rperf|pf2|duel_gvl|
        datadog_profiling_native_extension\S*|appsignal_extension)[^/]*\.(so|bundle)\z}x

      # The process in which this file was loaded.
      FIRST_PID = Process.pid

      module_function

      # @return [String, nil] why no hook can be put in here; nil when it can
      def why_not(version: RUBY_VERSION, forked: Process.pid != FIRST_PID, features: $LOADED_FEATURES)
        return if GvlClock.installed? || !forked || fixed?(version)
        tool = features.filter_map { |path| path[TOOLS, 1] }.first or return
        "#{tool} has a hook, too, and Ruby #{version} may hang when one is put in after a fork (Bug #21959). " \
          "Have the probe loaded before the fork, or Ruby updated"
      end

      def fixed?(version)
        from = FIXED[version[/\A\d+\.\d+/]]
        from.nil? || (version.split(".").map(&:to_i) <=> from.split(".").map(&:to_i)) >= 0
      end
      private_class_method :fixed?
    end
  end
end
