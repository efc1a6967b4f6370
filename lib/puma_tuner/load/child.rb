# frozen_string_literal: true

module PumaTuner
  module Load
    # A command that is waited for, and that never outlives the wait.
    module Child
      # How long a child that was asked to stop may take to say what it has.
      STOP_LIMIT_S = 10

      # @param command [Array<String>]
      # @param limit_s [Numeric] then it is killed
      # @param input [String] for its standard input
      # @param stop_signal [Symbol, nil] what it gets on an Interrupt, whose answer is then waited for. Without one, or without
      #   an answer, it is killed and the Interrupt goes on
      # @return [Array(String, Process::Status), nil] what it printed, on either stream, and how it ended;
      #   nil when it took too long
      def self.output_of(command, limit_s:, input: "", stop_signal: nil)
        reader, writer = IO.pipe
        source, sink = IO.pipe(binmode: true)
        pid = nil
        # An interruption in between would leave a child that nobody knows of.
        Thread.handle_interrupt(Interrupt => :never) { pid = Process.spawn(*command, in: source, out: writer, err: writer) }
        [writer, source].each(&:close)
        feed(sink, input)
        reading = Thread.new { reader.read }
        return unless ended?(reading, limit_s, pid, stop_signal)
        status = wait(pid)
        pid = nil
        [reading.value, status]
      ensure
        stop(pid) if pid
        reading&.kill&.join
        [reader, writer, source, sink].each { |io| io&.close }
      end

      class << self
        private

        # A child that does not read, or has ended, gets less.
        def feed(sink, input)
          sink.write(input)
        rescue Errno::EPIPE
          nil
        ensure
          sink.close
        end

        def ended?(reading, limit_s, pid, stop_signal)
          reading.join(limit_s)
        rescue Interrupt
          raise unless stop_signal
          Process.kill(stop_signal, pid)
          raise unless reading.join(STOP_LIMIT_S) && !reading.value.empty?
          true
        end

        def wait(pid) = Process.wait2(pid).last

        def stop(pid)
          Process.kill(:KILL, pid)
          wait(pid)
        rescue Errno::ESRCH, Errno::ECHILD
          # An interruption can fall between its end and our taking note of it.
        end
      end
    end
  end
end
