# frozen_string_literal: true

module PumaTuner
  module Measure
    # What is recorded in this process: the clock, the ledger, and what names the entries.
    class Recording
      CALIBRATIONS_COUNT = 300

      # @return [Ledgers] of this server's processes
      attr_reader :ledgers

      # @return [Recorder, Unaided]
      attr_reader :recorder

      # @return [String] this process's file
      attr_reader :ledger_path

      # @return [Integer] the process it is in
      attr_reader :pid

      # @param way_in [String]
      # @param directory [String, nil] where the command that measures wants the ledgers; nil: a place of our own
      # @param grouping [#call, nil] see Endpoint
      # @param locks [Boolean, nil] whether locks and pools are watched
      def initialize(way_in:, directory:, grouping: nil, locks: nil)
        require "json"
        @locks = locks
        @way_in = way_in
        @pid = Process.pid
        @ledgers = Ledgers.of(directory:, leader_pid:)
        @ledgers.fold_ended
        @endpoint = Endpoint.new(grouping:)
        @recorder = aided || unaided
      end

      # @return [String, nil] why the ledger holds less than it should
      def why_not = GvlClock.why_not || @why_not

      # @return [Integer, nil] nil of a process that is no worker of a cluster
      def worker_index = worker&.first

      # @return [Integer] of the process whose end is the server's
      def leader_pid = worker&.last || Process.pid

      private

      def aided
        return unless GvlClock.available? && GvlClock.start
        @ledger_path = @ledgers.new_path("ledger")
        @why_not = GvlClock.open_ledger(@ledger_path, JSON.generate(facts))&.then { |reason| "no ledger could be made in #{@ledgers.directory}: #{reason}" }
        return if @why_not
        OffGvl.look_for_libraries
        watch_locks if @locks
        GvlClock.sweep # the threads there are get their names in the ledger
        Recorder.new(@endpoint).tap { |recorder| calibrate(recorder) }
      end

      # The class is there in any app with gems; what is loaded later is not watched.
      def watch_locks
        require "monitor"
        GvlClock.watch_locks
      end

      def unaided
        @ledger_path = @ledgers.new_path("json")
        Unaided.new(path: @ledger_path, facts: facts, endpoint: @endpoint)
      end

      def facts
        {way_in: @way_in, worker_index:, why_not: why_not, server: Host::Launch.server_facts}
      end

      # Puma writes both into the title of a worker.
      def worker = $0[/cluster worker (\d+): (\d+)/] && [$1.to_i, $2.to_i]

      # What recording costs, the fastest of some: the first ones warm it up.
      def calibrate(recorder)
        entry = GvlClock.entry(Ledger::KIND_NUMBERS[:special], "(scratch)")
        GvlClock.cost_per_request_ns = Array.new(CALIBRATIONS_COUNT) {
          began_ns = GvlClock.now_ns
          recorder.rehearse(entry)
          GvlClock.now_ns - began_ns
        }.min
      end
    end
  end
end
