# frozen_string_literal: true

module PumaTuner
  module Host
    # A process that we start, in a group of its own: no interruption loses it,
    # and neither it nor what it started outlives `stop`.
    class Child
      # A child that was asked to stop may take so long to say what it has.
      ANSWER_LIMIT_S = 10

      # A killed process takes its moment to end.
      END_LIMIT_S = 2

      # Runs a command and waits for it.
      #
      # @param command [Array] as Process.spawn takes it
      # @param limit_s [Numeric] then it is killed
      # @param input [String] for its standard input
      # @param stop_signal [Symbol, nil] what it gets on an Interrupt, after which its end is waited for. Without
      #   one, or when it does not end, it is killed and the Interrupt goes on
      # @yield once it got that signal
      # @return [Array(String, Process::Status), nil] what it printed, on either stream, and how it ended;
      #   nil when it took too long
      def self.output_of(command, limit_s:, input: "", stop_signal: nil, &interrupted)
        reader, writer = IO.pipe
        source, sink = IO.pipe(binmode: true)
        child = new(*command, in: source, out: writer, err: writer)
        child.start
        [writer, source].each(&:close)
        feed(sink, input)
        reading = Thread.new { reader.read }
        [reading.value, child.wait] if ended?(reading, limit_s, child, stop_signal, &interrupted)
      ensure
        child&.stop
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

        def ended?(reading, limit_s, child, stop_signal)
          reading.join(limit_s)
        rescue Interrupt
          raise unless stop_signal
          child.signal(stop_signal)
          yield if block_given?
          raise unless reading.join(ANSWER_LIMIT_S) && !reading.value.empty?
          true
        end
      end

      # @return [Integer, nil] of the process; nil before `start`
      attr_reader :pid

      # @param words [Array] as Process.spawn takes them, with the environment first where there is one
      # @param options [Hash] likewise
      def initialize(*words, **options)
        @words = words
        @options = options
      end

      # @raise [SystemCallError] when it can't be started
      def start
        # An interruption in between would leave a child that nobody knows of.
        Thread.handle_interrupt(Exception => :never) do
          @waiting = Process.detach(@pid = Process.spawn(*@words, pgroup: true, **@options))
        end
      end

      # @return [Boolean] whether it was started and has not ended
      def alive? = !@pid.nil? && @waiting.alive?

      # @param limit_s [Numeric, nil] nil: for as long as it takes
      # @return [Process::Status, nil] how it ended; nil when it has not, or never began
      def wait(limit_s = nil) = @waiting&.join(limit_s)&.value

      # @param name [Symbol] of a signal, for it alone
      def signal(name)
        Process.kill(name, @pid) if alive?
      rescue Errno::ESRCH
        nil # it ended meanwhile
      end

      # Kills it and its group, which may outlive its leader. Safe to call again, and when it never started.
      # @return [Boolean] false when processes of another user are left, as they can't be killed
      def stop
        return true if @pid.nil? || @stopped
        signal_group(:KILL)
        @stopped = true
        @waiting.join(END_LIMIT_S)
        deadline_s = Clock.now_s + END_LIMIT_S
        sleep(0.005) until (left = signal_group(0)).nil? || Clock.now_s >= deadline_s
        left != false
      end

      private

      # @param signal [Symbol, Integer] 0 asks whether anybody is left
      # @return [Integer, nil, false] nil when nobody is, false when those who are belong to another user
      def signal_group(signal)
        Process.kill(signal, -@pid)
      rescue Errno::ESRCH
        nil
      rescue Errno::EPERM
        false
      end
    end
  end
end
