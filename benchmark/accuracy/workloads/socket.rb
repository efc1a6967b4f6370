# frozen_string_literal: true

require "socket"
require_relative "../workload"

module Accuracy
  # A process that answers each question after a while, with the time at which it did. The clock is the same in all processes.
  class Peer
    QUESTION = "?"

    def initialize(delay_ns)
      @socket, theirs = UNIXSocket.pair
      @pid = fork { answer(theirs, delay_ns) }
      theirs.close
    end

    # Without releasing the GVL, so that the wait begins where `wait` is called.
    def ask = @socket.write_nonblock(QUESTION)

    # @return [Integer] when the answer was sent, by CLOCK_MONOTONIC
    def wait = @socket.readpartial(8).unpack1("q")

    def stop
      @socket.close
      Process.wait(@pid)
    end

    private

    # The standard streams are given up, or whoever reads them would wait for this process, too.
    def answer(socket, delay_ns)
      AccuracySpin.keep_last
      @socket.close
      [$stdout, $stderr].each { |stream| stream.reopen(File::NULL) }
      while socket.read(1)
        sleep(delay_ns / 1e9)
        socket.write([Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)].pack("q"))
      end
    ensure
      exit!(0)
    end
  end

  class SocketWait < Workload
    def start_processes
      @peer = Peer.new(ms(50))
    end

    def stop = @peer.stop

    private

    def work
      12.times do
        @watch.during(:io) do
          @peer.ask
          @peer.wait
        end
      end
    end
  end
end
