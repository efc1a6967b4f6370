# frozen_string_literal: true

module PumaTuner
  # A running app -> Observation. Numbers, no opinions.
  #
  # What runs inside the server (the probe): gvl_clock, puma_hooks, recorder, agent, console.
  # What runs in the command: collector, which asks the agents and makes the Observation.
  module Measure
    autoload :Agent, "puma_tuner/measure/agent"
    autoload :Budget, "puma_tuner/measure/budget"
    autoload :Collector, "puma_tuner/measure/collector"
    autoload :Console, "puma_tuner/measure/console"
    autoload :Endpoint, "puma_tuner/measure/endpoint"
    autoload :EndpointObservation, "puma_tuner/measure/observation"
    autoload :GvlClock, "puma_tuner/measure/gvl_clock"
    autoload :LoadSummary, "puma_tuner/measure/observation"
    autoload :LoadedWindow, "puma_tuner/measure/loaded_window"
    autoload :Observation, "puma_tuner/measure/observation"
    autoload :ProbeCost, "puma_tuner/measure/observation"
    autoload :ProcessObservation, "puma_tuner/measure/observation"
    autoload :ProcessSnapshot, "puma_tuner/measure/process_snapshot"
    autoload :PumaHooks, "puma_tuner/measure/puma_hooks"
    autoload :Recorder, "puma_tuner/measure/recorder"
    autoload :ThreadObservation, "puma_tuner/measure/observation"
    autoload :ThreadBudget, "puma_tuner/measure/thread_budget"
    autoload :ThreadWindow, "puma_tuner/measure/thread_window"
    autoload :Trace, "puma_tuner/measure/observation"

    # Puma's outermost middleware sets this (6 to 8). Where it is missing the client had gone before its turn, as clients do
    # who give up while they are queued: no work for the app, so no request.
    APP_WAS_CALLED = "puma.config"

    class << self
      # @return [Recorder] of this process
      attr_reader :recorder

      # Looks at every Puma server of this process and of those forked from it, from its start on.
      #
      # @param way_in [String] "command", "plugin", "run" or "rack"
      # @param agent_directory [String, nil] where the command that measures keeps its sockets
      # @param console [Hash, nil] interval_s and out, to print the threads' lines
      def start(way_in:, agent_directory: nil, console: nil)
        @ways ||= {way_in:, agent_directory: nil, console: nil}
        @ways = @ways.merge({agent_directory:, console:}.compact)
        PumaHooks.install { |server| server_starts(server) }
      end

      # @api private
      def finish_request(client)
        queued_ns = client.puma_tuner_queued_ns
        client.puma_tuner_queued_ns = nil
        client.env.key?(APP_WAS_CALLED) ? recorder.finish(client.env, queued_ns) : recorder.discard
      end

      private

      def server_starts(server)
        return if @serving == Process.pid # a restart within the process
        @serving = Process.pid
        @recorder = Recorder.new
        say_what_is_missing unless GvlClock.start
        start_agent if @ways[:agent_directory]
        Console.new(server:, **@ways[:console]).start if @ways[:console]
      end

      def start_agent
        Agent.new(directory: @ways[:agent_directory], snapshot: ProcessSnapshot.new(recorder:, way_in: @ways[:way_in])).start
      end

      def say_what_is_missing
        warn "puma_tuner: GVL wait, IO and locks can't be told apart here: #{GvlClock.why_not || "no memory for the clock"}"
      end
    end
  end
end
