# frozen_string_literal: true

require "socket"

module PumaTuner
  module Host
    # A server that is no Puma: any command that listens where it is told to.
    # "{port}" in its words, and PORT in its environment, are a free port; it serves
    # as soon as that can be connected to. Its processes are all that it started.
    class OtherServer < ServerProcess
      PLACE = "{port}"

      def start
        @port = free_port
        super
      end

      # It has no master that would be told apart.
      def cluster? = false

      def serving_pids = pids

      def pids = Probe::Processes.tree_of(@child.pid)

      def topology = nil

      private

      def words = @command.words.map { |word| word.gsub(PLACE, @port.to_s) }

      def environment = super.merge("PORT" => @port.to_s).except("PUMA_TUNER_TOPOLOGY", "PUMA_TUNER_BIND")

      # The kernel's choice. Somebody could take it before the server does; then this does not start, and says so.
      def free_port
        server = TCPServer.new("127.0.0.1", 0)
        server.local_address.ip_port
      ensure
        server&.close
      end

      def serves?
        TCPSocket.new("127.0.0.1", @port).close
        @announcement = {"pid" => @child.pid, "ports" => [@port], "binds" => [], "workers_count" => 0,
                         "max_threads_count" => nil, "options" => {}}
        true
      rescue SystemCallError
        false
      end

      def slow_boot_advice = "Does it listen on 127.0.0.1, at #{PLACE} or $PORT? Give more time with --boot-limit."
    end
  end
end
