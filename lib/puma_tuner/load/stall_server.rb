# frozen_string_literal: true

require "io/nonblock"
require "socket"

module PumaTuner
  module Load
    # A server whose latencies are known beforehand (ext/puma_tuner_load/stall.c): each request is answered SERVICE_S
    # after it came; once it answers nothing for STALL_S, and then all that has gathered.
    class StallServer
      SERVICE_S = 0.0025
      STALL_S = 1.0

      # The server stands still so long after its first request.
      STALL_AFTER_S = 2.0

      # It may take so long to end when it is asked to.
      ENDING_LIMIT_S = 5

      # Runs the block beside such a server, in a process of its own.
      # @yieldparam server [StallServer]
      # @return what the block returns
      def self.run(...)
        server = new(...)
        server.start
        yield server
      ensure
        server&.kill
      end

      # @param service_s [Float]
      # @param stall_s [Float] 0: never
      def initialize(service_s: SERVICE_S, stall_s: STALL_S)
        @plan = [service_s, stall_s, STALL_AFTER_S].map { |seconds| (seconds * Units::NS_PER_S).round }
      end

      # @return [String]
      attr_reader :url

      # @return [Integer] of its process
      attr_reader :pid

      # @raise [LoadToolFailed] when the extension is not there
      def start
        raise LoadToolFailed, Native.why_not if Native.why_not
        listener = TCPServer.new("127.0.0.1", 0)
        listener.listen(1_000)
        @url = "http://127.0.0.1:#{listener.local_address.ip_port}"
        @said, saying = IO.pipe
        @pid = fork { serve(listener, saying) }
      ensure
        [listener, saying].each { |io| io&.close }
      end

      # Ends it.
      # @return [Integer, nil] how late the server was itself, with its responses (by their 99th percentile) or with the
      #   first one after the standstill, whichever is more; nil when it did not say
      def finish_ns
        Process.kill(:TERM, @pid)
        @said.read.split.map(&:to_i).max if @said.wait_readable(ENDING_LIMIT_S)
      ensure
        kill
      end

      def kill
        return unless @pid
        Process.kill(:KILL, @pid)
        Process.wait(@pid)
      ensure
        @pid = nil
        @said&.close
      end

      private

      def serve(listener, saying)
        @said.close
        listener.nonblock = true
        saying.puts(Loop.serve_stall(listener.fileno, *@plan))
        saying.close
      ensure
        exit!(1)
      end
    end
  end
end
