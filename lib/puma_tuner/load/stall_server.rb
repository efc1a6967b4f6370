# frozen_string_literal: true

require "io/nonblock"
require "socket"

module PumaTuner
  module Load
    # A server whose latencies are known beforehand (ext/puma_tuner_load/stall.c): each request is answered SERVICE_S after it
    # came; once the server stands still for STALL_S, after which it answers all that has gathered.
    module StallServer
      SERVICE_S = 0.0025
      STALL_S = 1.0

      # When it stands still, after its first request.
      STALL_AFTER_S = 2.0

      # Runs the block beside such a server, in a process of its own.
      # @yieldparam url [String]
      def self.run
        raise LoadToolFailed, Native.why_not if Native.why_not
        listener = TCPServer.new("127.0.0.1", 0)
        listener.listen(1_000)
        pid = fork { serve(listener) }
        port = listener.local_address.ip_port
        listener.close
        yield "http://127.0.0.1:#{port}"
      ensure
        if pid
          Process.kill(:KILL, pid)
          Process.wait(pid)
        end
      end

      def self.serve(listener)
        listener.nonblock = true
        nanoseconds = [SERVICE_S, STALL_S, STALL_AFTER_S].map { |seconds| (seconds * Units::NS_PER_S).round }
        Loop.serve_stall(listener.fileno, *nanoseconds)
      ensure
        exit!(1)
      end
      private_class_method :serve
    end
  end
end
