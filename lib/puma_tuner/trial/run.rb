# frozen_string_literal: true

require "time"

module PumaTuner
  module Trial
    # A trial from its plan to its outcome. However it ends, the server gets back what is configured: here at once, and
    # where this process is killed, by what runs in the server (Probe::Resize).
    class Run
      LOOK_S = 1

      # So long pools may take to have their configured size again, requests under way left out.
      RESTORE_S = 4

      # @param server [Server]
      # @param plan [Plan]
      # @param journal [Journal]
      # @param clock [#call] seconds that only grow
      def initialize(server, plan, journal: Journal.new(nil), clock: Clock.method(:now_s))
        @server = server
        @plan = plan
        @journal = journal
        @clock = clock
        @readings = []
      end

      # @return [Array<Reading>] so far
      attr_reader :readings

      # @yieldparam reading [Reading]
      # @yieldparam period [Integer]
      # @return [Outcome]
      # @raise [UsageError] while another trial of the server is under way
      def call(&)
        started_at = Time.now.utc.iso8601
        @server.hold do
          @journal.begin(@plan, started_at:, server_pid: @server.leader_pid)
          @ended = watch(&)
        end
        restored = restored?
        @journal.end(@ended, restored:)
        Outcome.of(@plan, @readings, started_at:, server_pid: @server.leader_pid, ended: @ended, restored:)
      end

      # The same for whoever holds the server already.
      #
      # @param base [Hash{Integer => Integer}] threads of those that are not the canary, where that is not what is
      #   configured
      # @param before [Array<WorkerReading>, nil] see Decision.of
      # @yieldparam reading [Reading]
      # @yieldparam period [Integer]
      # @return [Statement, nil] why it ended before its time
      def watch(base: {}, before: nil)
        @server.forget
        @began_s = @ordered_s = @clock.call
        while (period = @plan.period_at(passed_s))
          return Statement.of(:server_gone) unless @server.there?
          order(base.merge(@plan.order(period)))
          @readings << (reading = @server.take(passed_s))
          decision = Decision.of(@plan, @readings, before:)
          @journal.look(reading, decision)
          return decision if decision
          yield(reading, period) if block_given?
          sleep(LOOK_S)
        end
      rescue MeasurementFailed
        raise if @server.there?
        Statement.of(:server_gone)
      rescue Interrupt
        Statement.of(:interrupted)
      end

      private

      def passed_s = @clock.call - @began_s

      # What can't be written once is tried again, until the last order has expired.
      def order(threads)
        @server.order(threads)
        @ordered_s = @clock.call
      rescue MeasurementFailed => error
        raise if error.is_a?(Server::Gone) || @clock.call - @ordered_s > Server::LEASE_S
      end

      # @return [Boolean, nil]
      def restored?
        deadline_s = @clock.call + RESTORE_S
        loop do
          return unless @server.there?
          restored = given_back?
          return restored if restored || @clock.call > deadline_s
          sleep(LOOK_S / 4.0)
        end
      end

      # @return [Boolean, nil] nil: a process tells nothing now, or is being replaced
      def given_back?
        @server.states.all? { |state| state[:pool]&.fetch(:max_count) == state[:configured]&.last }
      rescue UsageError
        nil
      end
    end
  end
end
