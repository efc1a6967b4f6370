# frozen_string_literal: true

require "time"

module PumaTuner
  module Top
    # Has a server record for two seconds what each of its threads does when, as `measure --lanes` does. The order is a
    # number in the ledgers: nothing is asked of the server, and none of its threads waits for anything.
    class LaneRecorder
      # A process begins when its next request ends. Those without one for so long are left out.
      BEGIN_S = 2

      LOOK_S = 0.1

      # @param server [Server]
      def initialize(server)
        @server = server
        @lock = Mutex.new
        @count = 0
      end

      # Who asks while a recording is made gets the same.
      #
      # @return [Lanes::Recording] without a topology
      # @raise [MeasurementFailed] where nothing is recorded
      def call
        known_count = @count
        @lock.synchronize { (@count == known_count) ? record : @last }
      end

      private

      # A recording that a command of ours makes must not begin anew.
      def record
        raise MeasurementFailed, "a puma_tuner command records this server" if @server.ours
        raise MeasurementFailed, ended unless @server.alive?
        recorded_at = Time.now.utc.iso8601
        processes = processes(@server.ledgers)
        raise MeasurementFailed, nothing if processes.empty?
        @last = Lanes::Recording.new(recorded_at:, command: nil, topology: nil, processes: processes.freeze)
          .tap { @count += 1 }
      end

      def processes(ledgers)
        ledgers.order_lanes
        living_count = ledgers.paths.count { |path| path.end_with?(".ledger") && !ledgers.ended?(path) }
        deadline_s = Clock.now_s + BEGIN_S
        until Probe::LaneReader.of(ledgers.paths).size >= living_count || Clock.now_s > deadline_s
          raise MeasurementFailed, ended unless @server.alive?
          sleep(LOOK_S)
        end
        ledgers.lanes
      rescue SystemCallError => error
        raise MeasurementFailed, @server.alive? ? error.message : ended
      end

      def ended = "the server #{@server} has ended"

      def nothing
        "no request ended within #{Units.counted(BEGIN_S, "second")}, or the server's probe has no extension"
      end
    end
  end
end
