# frozen_string_literal: true

module PumaTuner
  module Probe
    # The recording of this process: the clock, the ledger, and what names the entries. Where no ledger can be made,
    # nothing is recorded.
    class Recording
      CALIBRATIONS_COUNT = 300

      # The part of the place that all ledgers of a server may take, as its app,
      # and other servers, have files there, too.
      PLACE_SHARE = 0.75

      # @return [Ledgers, nil] of this server's processes
      attr_reader :ledgers

      # @return [Recorder, FallbackRecorder, Unwatched]
      attr_reader :recorder

      # @return [String, nil] this process's file
      attr_reader :ledger_path

      # @return [Integer] the process it is in
      attr_reader :pid

      # @param way_in [String]
      # @param directory [String, nil] where the command that measures wants the ledgers; nil: a place of our own
      # @param grouping [#call, nil] see Endpoint
      # @param locks [Boolean, nil] whether locks and pools are watched
      # @param server [::Puma::Server, nil] that this process runs
      def initialize(way_in:, directory:, grouping: nil, locks: nil, server: nil)
        require "json"
        @locks = locks
        @way_in = way_in
        @server = server
        @pid = Process.pid
        @endpoint = Endpoint.new(grouping:)
        @ledgers = Ledgers.of(directory:, leader_pid:)
        fold_ended
        @recorder = full_recorder || fallback_recorder
      rescue Ledgers::NoPlace, SystemCallError => error
        @why_nothing = "nothing is recorded in this process: #{error.message}"
        @recorder = Unwatched
      end

      # @return [String, nil] why the ledger holds less than it should
      def why_not = @why_nothing || GvlClock.why_not || @why_not

      # @return [Boolean] whether anything is
      def any? = @why_nothing.nil?

      # @return [Boolean] whether it is by the clock, which knows threads
      def full? = @ledger_path.to_s.end_with?(".ledger")

      # @return [Integer, nil] nil of a process that is no worker of a cluster, such as one that the app forks in it
      def worker_index = (Puma.worker&.first unless Puma.forked_by_app?)

      # @return [Integer] of the process whose end is the server's
      def leader_pid = Puma.worker&.last || Process.pid

      private

      # Where that fails, as it does where a place is too full, the next process tries it again, and this one is
      # recorded all the same.
      def fold_ended
        @ledgers.fold_ended(bytes_max)
      rescue SystemCallError
        nil
      end

      def full_recorder
        return unless GvlClock.available?
        @why_not = OtherHooks.why_not || why_not_started
        return if @why_not
        @ledger_path = @ledgers.new_path("ledger")
        @why_not = GvlClock.open_ledger(@ledger_path, JSON.generate(facts), bytes_max)&.then do |reason|
          "no ledger could be made in #{@ledgers.directory}: #{reason}"
        end
        return if @why_not
        BlockingRegions.look_for_libraries
        watch_locks if @locks
        GvlClock.sweep # the threads there are get their names in the ledger
        Recorder.new(@endpoint).tap do |recorder|
          calibrate(recorder)
          ActiveRecordQueries.look(recorder)
        end
      end

      # Starts the clock.
      # @return [String, nil] why it does not run
      def why_not_started
        return if GvlClock.start
        cure = ". Have PumaTuner called before the first Ractor begins" if Ractor.count > 1
        "the clock of threads does not start (#{GvlClock.refusal || "there is no memory for it"})#{cure}"
      end

      # Those that have ended may take together what one that lives may.
      #
      # @return [Integer, nil] what this process's ledger may take of the place; nil: all that it wants, as where the
      #   place does not tell its size
      def bytes_max
        place_bytes = GvlClock.place_bytes(@ledgers.directory)
        (place_bytes * PLACE_SHARE / ([Puma.workers_count(@server) || 1, 1].max + 1)).to_i if place_bytes
      end

      # The class is there in any app with gems; what is loaded later is not watched.
      def watch_locks
        require "monitor"
        GvlClock.watch_locks
      end

      def fallback_recorder
        @ledger_path = @ledgers.new_path("json")
        FallbackRecorder.new(path: @ledger_path, facts: facts, endpoint: @endpoint)
      end

      def facts
        {way_in: @way_in, worker_index:, why_not: why_not, server: Launch.server_facts,
         threads_count: Puma.threads_count(@server)}
      end

      # Measures what recording costs. It takes the fastest of some runs: the first ones warm it up, and beside threads
      # that compute each may take a while.
      def calibrate(recorder)
        entry = GvlClock.entry(Ledger::KIND_NUMBERS[:special], "(scratch)")
        deadline_ns = GvlClock.now_ns + CALIBRATION_LIMIT_NS
        fastest_ns = nil
        CALIBRATIONS_COUNT.times do
          began_ns = GvlClock.now_ns
          break if fastest_ns && began_ns > deadline_ns
          recorder.rehearse(entry)
          fastest_ns = [fastest_ns, GvlClock.now_ns - began_ns].compact.min
        end
        GvlClock.cost_per_request_ns = fastest_ns
      end

      CALIBRATION_LIMIT_NS = 2_000_000
      private_constant :CALIBRATION_LIMIT_NS
    end
  end
end
