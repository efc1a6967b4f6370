# frozen_string_literal: true

require "json"
require "socket"

module PumaTuner
  module Export
    # The exporter's own process, which a Supervisor starts: it reads what the server's processes leave behind, and
    # answers whoever scrapes. Neither takes anything of the server's GVL, and where cores are short, the server comes
    # first.
    #
    # It is nobody's child, as an app may wait for all of its own. It ends with its server: when the pipe that is its
    # standard input ends, or, where a child of the app's keeps that open, when the leader is seen to be gone.
    class Exporter
      # It looks this often whether the leader is there.
      LOOK_S = 1

      # After a restart, the previous exporter gives up the address within moments. If it is still taken after this
      # time, one line says so.
      HANDOVER_S = 2

      NICER = 5

      # The kernel ends this process before all of the server's when memory gets short.
      OOM_SCORE = 500

      # Orders to the server, which reach all of its group.
      SIGNALS = %w[INT TERM HUP].freeze

      # @return [void]
      def self.main
        SIGNALS.each { |signal| trap(signal, "IGNORE") }
        return if Process.respond_to?(:fork) && fork
        settings = $stdin.gets or return # its server has gone already
        new(**JSON.parse(settings, symbolize_names: true)).run
      end

      # @param leader [String] Probe::Processes.identity of the process that leads the server
      # @param directory [String] of the ledgers
      # @param address [String] see Address
      # @param labels [Hash] see Settings
      # @param endpoints_max [Integer] see Settings
      def initialize(leader_pid:, leader:, directory:, address:, labels:, endpoints_max:)
        @leader_pid = leader_pid
        @leader = leader
        @address = Address.parse(address)
        @server = Server.new(Probe::Ledgers.new(directory), leader_pid:, labels:, endpoints_max:)
      end

      # Returns never.
      def run
        give_way
        Process.setproctitle("puma_tuner exporter of #{@leader_pid}")
        Thread.new { end_with_leader }
        http = HttpServer.new(listen, @server)
        loop { http.serve }
      end

      private

      # Lowers its own priority, where it may.
      def give_way
        Process.setpriority(Process::PRIO_PROCESS, 0, [Process.getpriority(Process::PRIO_PROCESS, 0) + NICER, 19].min)
        score = File.read("/proc/self/oom_score_adj").to_i
        File.write("/proc/self/oom_score_adj", [score, OOM_SCORE].max.to_s)
      rescue SystemCallError
        nil
      end

      def end_with_leader
        loop { break if $stdin.wait_readable(LOOK_S) || !leader? }
        # First the name, so that whoever listens there next has his own.
        File.unlink(@address.host_or_path) if @listens && @address.kind == "unix"
      rescue SystemCallError
        nil
      ensure
        exit!(0)
      end

      def leader? = Probe::Processes.alive?(@leader_pid) && Probe::Processes.identity(@leader_pid) == @leader

      # @return [TCPServer, UNIXServer]
      def listen
        began_s = Clock.now_s
        begin
          listener = @address.listen
        rescue SystemCallError, SocketError, ArgumentError => error
          told ||= Clock.now_s - began_s > HANDOVER_S &&
            Probe.say("nothing can be exported at #{@address} (#{error.class}: #{error.message}); trying again")
              .nil?
          sleep(told ? LOOK_S : 0.1)
          retry
        end
        Probe.say("#{@address}: exporting now") if told
        @listens = true
        listener
      end
    end
  end
end
