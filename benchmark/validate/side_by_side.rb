# frozen_string_literal: true

require_relative "session"

module Validation
  # All servers of a subject at once: those that record, with the probe, and those of its cells, without. They are loaded in turns, round after
  # round, in an order by chance. What changes on the machine meanwhile meets recordings and cells alike then (neighbours make this one a third
  # slower for minutes), and what is left between them is the settings'. Those that rest take memory, and next to no CPU.
  class SideBySide
    # Servers that boot, and that are warmed up, at the same time.
    STARTED_AT_ONCE_COUNT = 3
    WARMED_AT_ONCE_COUNT = 4

    # After that, each alone for so long: what is compiled now was compiled beside others.
    ALONE_S = 1.0

    # A server that stays until it is told to leave.
    class Guest
      # @yield [block] starts the server, and stops it when the block that it calls with it ends
      def initialize(&with_server)
        @with_server = with_server
        @leave = Queue.new
      end

      # @return [PumaTuner::Host::ServerProcess]
      def start
        arrived = Queue.new
        @thread = Thread.new do
          @with_server.call(->(server) { arrived << server and @leave.pop })
        rescue => error
          arrived << error
        end
        arrived.pop.tap { |server| raise server if server.is_a?(Exception) }
      end

      def stop
        @leave << true
        @thread&.join
      end
    end

    # One that records, over all of its turns.
    class Recording
      attr_reader :topology, :guest

      # @param traffic [PumaTuner::Load::Traffic]
      def initialize(command, topology, traffic, load_s)
        @command = command
        @topology = topology
        @traffic = traffic
        @load_s = load_s
        @outcomes = []
        @guest = Guest.new { |block| PumaTuner::Host::ServerProcess.run(command, topology:, measure: true, locks: true, boot_limit_s: Session::BOOT_LIMIT_S) { |server| block.call(server) } }
      end

      def attend(server) = @server = server

      def warm_up(seconds) = @traffic.send_to(@server.url, duration_s: seconds)

      def begin
        @collector = PumaTuner::Measure::Collector.new(@server, command: @command.to_s)
        @collector.begin_window
      end

      def turn(number) = @outcomes << @traffic.with(seed: number + 1).send_to(@server.url, duration_s: @load_s).insist_on_expected_answers

      # @return [PumaTuner::Probe::Observation]
      def finish = @collector.end_window(load: PumaTuner::Probe::LoadSummary.of(@outcomes.reduce(:+), @traffic.arrivals))
    end

    # A cell's.
    class Measured
      attr_reader :guest

      # @param session [Session]
      def initialize(session)
        @session = session
        @guest = Guest.new { |block| session.with_server { |server| block.call(server) } }
      end

      def attend(server) = @session.attend(server)

      def warm_up(seconds) = @session.warm_up(seconds)

      def begin = nil

      def turn(number) = @session.turn(number)

      # @return [Hash{Cell => Hash}] what goes into the journal
      def finish = @session.finish
    end

    # @param recordings [Array<Recording>]
    # @param sessions [Array<Session>]
    # @param times [Times]
    # @param seed [Integer] of the order
    def initialize(recordings:, sessions:, times:, seed:)
      @recordings = recordings
      @sessions = sessions.map { |session| Measured.new(session) }
      @times = times
      @random = Random.new(seed)
    end

    # @return [Array(Hash{PumaTuner::Topology => PumaTuner::Probe::Observation}, Hash{Cell => Hash}, Float)] recordings, cells, and the machine's speed
    #   meanwhile, see Speed
    # @raise [PumaTuner::UserMistake] when a server can't be started, or answers wrongly
    def call
      all = [*@recordings, *@sessions]
      at_once(all, STARTED_AT_ONCE_COUNT) { |one| one.attend(one.guest.start) }
      at_once(all, WARMED_AT_ONCE_COUNT) { |one| one.warm_up(@times.warmup_s) }
      all.each { |one| one.warm_up(ALONE_S) }
      _, turns_per_ms = Speed.during do
        all.each(&:begin)
        @times.repeats_count.times { |number| all.shuffle(random: @random).each { |one| one.turn(number) } }
      end
      [@recordings.to_h { |recording| [recording.topology, recording.finish] }, @sessions.map(&:finish).reduce({}, :merge), turns_per_ms]
    ensure
      all&.each { |one| one.guest.stop }
    end

    private

    def at_once(all, count)
      all.each_slice(count) do |some|
        some.map { |one| Thread.new { yield one }.tap { |thread| thread.report_on_exception = false } }.each(&:join)
      end
    end
  end
end
