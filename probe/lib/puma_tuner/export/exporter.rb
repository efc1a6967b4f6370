# frozen_string_literal: true

require "socket"

module PumaTuner
  module Export
    # The exporter's own process, a Sidecar: it reads what the server's processes leave behind, and answers whoever
    # scrapes.
    class Exporter
      # It looks this often whether its address is free.
      LOOK_S = 1

      # After a restart, the previous exporter gives up the address within moments. If it is still taken after this
      # time, one line says so.
      HANDOVER_S = 2

      NICER = 5

      SCRIPT = "PumaTuner::Probe::Sidecar.main { |settings| PumaTuner::Export::Exporter.new(**settings).run }"

      # @param settings [Hash{Symbol => Object}] see below
      # @return [Probe::Supervisor] that starts it
      def self.supervisor(settings) = Probe::Supervisor.new("exporter", script: SCRIPT, settings:)

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
        Probe::Sidecar.settle("exporter", nicer: NICER, leader_pid: @leader_pid, leader: @leader) { give_up_address }
        http = HttpServer.new(listen, @server)
        loop { http.serve }
      end

      private

      # First the name, so that whoever listens there next has his own.
      def give_up_address
        File.unlink(@address.host_or_path) if @listens && @address.kind == "unix"
      end

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
