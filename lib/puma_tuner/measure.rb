# frozen_string_literal: true

module PumaTuner
  # A running app -> Observation. Numbers, no opinions.
  #
  # What runs inside the server (the probe): gvl_clock, puma_hooks, recording, recorder (or unaided), off_gvl, console.
  # What they leave behind: a ledger per process. What reads them, in the command (collector) or the server (snapshot):
  # ledgers, and account, which makes the Observation's values.
  module Measure
    autoload :Account, "puma_tuner/measure/account"
    autoload :Blame, "puma_tuner/measure/observation"
    autoload :Budget, "puma_tuner/measure/budget"
    autoload :Collector, "puma_tuner/measure/collector"
    autoload :Companions, "puma_tuner/measure/companions"
    autoload :Console, "puma_tuner/measure/console"
    autoload :Distribution, "puma_tuner/measure/observation"
    autoload :Endpoint, "puma_tuner/measure/endpoint"
    autoload :EndpointObservation, "puma_tuner/measure/observation"
    autoload :Folding, "puma_tuner/measure/folding"
    autoload :GvlClock, "puma_tuner/measure/gvl_clock"
    autoload :LateWindow, "puma_tuner/measure/late_window"
    autoload :Ledger, "puma_tuner/measure/ledger"
    autoload :Ledgers, "puma_tuner/measure/ledgers"
    autoload :LoadSummary, "puma_tuner/measure/observation"
    autoload :LoadedWindow, "puma_tuner/measure/loaded_window"
    autoload :LockObservation, "puma_tuner/measure/observation"
    autoload :Observation, "puma_tuner/measure/observation"
    autoload :OffGvl, "puma_tuner/measure/off_gvl"
    autoload :ProbeCost, "puma_tuner/measure/observation"
    autoload :ProcessObservation, "puma_tuner/measure/observation"
    autoload :PumaHooks, "puma_tuner/measure/puma_hooks"
    autoload :Recorder, "puma_tuner/measure/recorder"
    autoload :Recording, "puma_tuner/measure/recording"
    autoload :Recordings, "puma_tuner/measure/recordings"
    autoload :RequestStart, "puma_tuner/measure/request_start"
    autoload :Snapshot, "puma_tuner/measure/snapshot"
    autoload :ThreadObservation, "puma_tuner/measure/observation"
    autoload :Trace, "puma_tuner/measure/observation"
    autoload :Unaided, "puma_tuner/measure/unaided"
    autoload :Written, "puma_tuner/measure/written"

    # Puma's outermost middleware sets this (6 to 8). Where it is missing the client had gone before its turn, as clients do
    # who give up while they are queued: no work for the app, so no request.
    APP_WAS_CALLED = "puma.config"

    # The recorder of a process that can't be watched.
    module Unwatched
      def self.begin(_client) = false

      def self.job(_name) = yield
    end

    FIRST = Thread::Mutex.new
    private_constant :FIRST

    class << self
      # @return [Recorder, Unaided, Unwatched] of this process
      def recorder = @recorder || Unwatched

      # @return [#call, nil] the app's own names for endpoints, see PumaTuner.group_endpoints
      attr_accessor :grouping

      # Looks at every Puma server of this process and of those forked from it, from its start on.
      #
      # @param way_in [String] "command", "plugin", "run", "rack" or "export"
      # @param directory [String, nil] where the command that measures wants the ledgers
      # @param console [Hash, nil] interval_s and out, to print the threads' lines
      # @param locks [Boolean, nil] whether locks and pools are watched, at their price: they are when any way in asks for it
      def start(way_in:, directory: nil, console: nil, locks: nil)
        @ways ||= {way_in:, directory: nil, console: nil, locks: nil}
        @ways = @ways.merge({directory:, console:, locks: locks || nil}.compact)
        PumaHooks.install { |server| server_starts(server) }
      end

      # What else is to be done in each process that serves, once it is recorded.
      #
      # @yieldparam server [Puma::Server, nil] nil when it had started before
      # @return [void]
      def at_start(&task)
        @tasks = [*@tasks, task]
      end

      # The same in a server that serves already. Requests that are under way are left out.
      #
      # @return [String, nil] why less than everything can be seen
      def start_late(directory:)
        start(way_in: "command", directory:)
        server_starts
        recording.why_not
      end

      # @return [Recording] of this process, begun when there is none
      def recording
        return @recording if @recording&.pid == Process.pid
        @snapshot = nil
        @recording = Recording.new(way_in: @ways&.fetch(:way_in) || "jobs", directory: @ways&.fetch(:directory) || ENV["PUMA_TUNER_DIRECTORY"], grouping:,
          locks: @ways&.fetch(:locks))
        @recorder = @recording.recorder
        @recording
      end

      # The same for work that begins in many threads at once. A lock of its own, as a late start may come out of a signal's handler,
      # which may not wait for one.
      #
      # @return [void]
      def begin_recording
        FIRST.synchronize { recording } unless @recording&.pid == Process.pid
      end

      # @return [Snapshot] of this process's server
      def snapshot = @snapshot ||= Snapshot.new(recording)

      private

      # Once per process: Puma restarts its server within one, too. What goes wrong here must not reach the app, which then
      # serves unwatched.
      def server_starts(server = nil)
        return if @served_pid == Process.pid
        @served_pid = Process.pid
        say_what_is_missing if recording.why_not
        Jobs.install
        start_console if @ways[:console]
        @tasks&.each { |task| task.call(server) }
      rescue => error
        @recorder = Unwatched
        warn "puma_tuner: this process can't be watched (#{error.class}: #{error.message})"
      end

      def start_console
        Console.new(ledger_path: recording.ledger_path, **@ways[:console]).start
      end

      def say_what_is_missing
        warn "puma_tuner: GVL wait, IO and locks can't be told apart here: #{recording.why_not}"
      end
    end
  end
end
