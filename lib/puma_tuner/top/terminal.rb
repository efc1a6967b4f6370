# frozen_string_literal: true

require "io/console"

module PumaTuner
  module Top
    # The terminal while a screen is drawn on it: keys come one by one, unseen, and whatever ends this, it is left as it
    # was. Ctrl-C and Ctrl-Z are signals still.
    class Terminal
      # The other screen, of which nothing stays; no cursor; no line goes on in the next. And back.
      ENTER = "\e[?1049h\e[?25l\e[?7l"
      LEAVE = "\e[?7h\e[?25h\e[?1049l"

      # What is left of a key that sends more than one character, such as an arrow.
      SEQUENCE = /\A\e(\[[\d;]*[A-Za-z~]|O[A-Za-z]|.)?/m

      USUAL_SIZE = [24, 80].freeze

      # @param input [IO]
      # @param output [IO]
      # @return [Boolean] whether both are a terminal that can be drawn on
      def self.fit?(input, output) = input.tty? && output.tty? && ENV["TERM"] != "dumb"

      # @param input [IO]
      # @param output [IO]
      def initialize(input, output)
        @input = input
        @output = output
        @woken, @waker = IO.pipe
      end

      # @yieldparam terminal [Terminal]
      # @return [Object] the block's
      def open
        traps = {WINCH: "w", TSTP: "z", CONT: "c"}
          .to_h { |signal, letter| [signal, trap(signal) { wake(letter) }] }
        enter
        yield self
      ensure
        leave
        traps&.each { |signal, before| trap(signal, before || "DEFAULT") }
      end

      # @return [Array(Integer, Integer)] rows and columns
      def size
        rows, columns = @output.winsize
        (rows.positive? && columns.positive?) ? [rows, columns] : USUAL_SIZE
      rescue SystemCallError
        USUAL_SIZE
      end

      # A line is emptied before it is written: after the last column its end would take that away.
      #
      # @param lines [Array<String>]
      # @return [void]
      def draw(lines)
        @output.write("\e[H#{lines.map { |line| "\e[2K#{line}" }.join("\r\n")}\e[J")
        @output.flush
      end

      # Waits until a key is pressed, the window has another size, one of the others is readable, or the time is up.
      #
      # @param seconds [Numeric]
      # @param others [Array<IO>]
      # @return [Array<String>] keys
      # @raise [EOFError] when the terminal has gone
      def keys(seconds, others = [])
        ready, = IO.select([@input, @woken, *others], nil, nil, [seconds, 0].max)
        return [] unless ready
        signalled if ready.include?(@woken)
        ready.include?(@input) ? read_keys : []
      end

      private

      def enter
        return if @before
        @before = @input.console_mode
        @input.raw!(intr: true)
        @output.write(ENTER)
        @output.flush
      end

      # A terminal that has gone needs nothing.
      def leave
        return unless @before
        @output.write(LEAVE)
        @output.flush
      rescue
        nil
      ensure
        restore
      end

      def restore
        @input.console_mode = @before if @before
      rescue SystemCallError, IOError
        nil
      ensure
        @before = nil
      end

      # In a signal's handler.
      def wake(letter)
        @waker.write_nonblock(letter)
      rescue IO::WaitWritable
        nil
      end

      # Ctrl-Z stops this process with the terminal as it was before; what comes after goes on here.
      def signalled
        return unless @woken.read_nonblock(64).include?("z")
        leave
        Process.kill(:STOP, Process.pid)
        enter
      end

      def read_keys
        text = @input.read_nonblock(1_024)
        keys = []
        until text.empty?
          sequence = text[SEQUENCE]
          keys << text[0] unless sequence
          text = text[(sequence || text[0]).length..]
        end
        keys
      rescue IO::WaitReadable
        []
      end
    end
  end
end
