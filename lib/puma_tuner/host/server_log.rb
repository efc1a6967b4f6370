# frozen_string_literal: true

module PumaTuner
  module Host
    # The output of a server: it is kept in a file, passed on where wished for, and searched for the lines that tell
    # most.
    class ServerLog
      TAIL_LINES = 12

      # The file lies in memory. Beyond this, its older half is thrown away:
      # what tells most is at the beginning or at the end.
      BYTES_MAX = 8 << 20

      # A longer line is kept in pieces: one that never ends, such as of a progress bar's dots, would fill our memory.
      LINE_BYTES_MAX = 64 << 10

      # The line in which Puma says why it can't serve; the lines after it say where.
      COMPLAINT =
        /\A! Unable to (?:load|start)|Address already in use|Could not find|LoadError|No such file|No space left/

      # Such a line tells nothing: it is empty, or a backtrace's line inside a gem, Ruby or a program that starts
      # others.
      UNTELLING = %r{\A\s*\z|\A\s+from (?:.*/gems/|<internal:|.*/lib/ruby/|.*/bin/)}

      # @return [IO] for the server to write to
      attr_reader :writer

      # @param path [String] of the file
      # @param echo [IO, nil] gets the output too, from `release` on: before
      #   that the server may fail, and one message is better than two
      def initialize(path, echo: nil)
        @path = path
        @echo = echo
        @buffer = []
        @unwritten = []
        @lock = Mutex.new
        reader, @writer = IO.pipe
        @copier = Thread.new { copy(reader) }
      end

      # Passes on what was buffered, and everything from now on.
      def release
        @lock.synchronize do
          @buffer&.each { |line| pass_on(line) }
          @buffer = nil
        end
      end

      # Waits until all is written of a server that has ended.
      def finish = @copier.join(1)

      # @return [Array<String>] the lines that tell most
      def tail
        written = [@older, @path].compact.select { |path| File.file?(path) }
          .flat_map { |path| File.readlines(path, chomp: true) }
        lines = [*written, *@lock.synchronize { @unwritten.dup }].map { |line| line.scrub[0, 200] }.grep_v(UNTELLING)
        complaint = lines.index { |line| line.match?(COMPLAINT) }
        [*(complaint ? lines[complaint, TAIL_LINES / 2] : lines.last(TAIL_LINES)), *@given_up]
      end

      private

      def copy(reader)
        open_file
        reader.each_line(LINE_BYTES_MAX) do |line|
          keep(line)
          @lock.synchronize { @buffer ? buffer(line) : pass_on(line) }
        end
      ensure
        @file&.close
      end

      # Lines are written at once, so that nothing is left to be written when it is closed.
      def open_file
        @file = File.open(@path, "w").tap { |file| file.sync = true }
      rescue SystemCallError => error
        give_up(error)
      end

      # Without a file, as where no space is left, the last lines are kept here: a server whose output nobody reads
      # waits without end.
      def keep(line)
        return unwritten(line.chomp) unless @file
        @file.write(line)
        begin_anew if @file.pos > BYTES_MAX / 2
      rescue SystemCallError => error
        give_up(error)
        unwritten(line.chomp)
      end

      def give_up(error)
        @file&.close
        @file = nil
        @given_up = "(kept in memory since there was no place for it: #{error.class.new.message})"
      end

      def unwritten(line)
        @lock.synchronize do
          @unwritten << line
          @unwritten.shift if @unwritten.size > UNWRITTEN_LINES_MAX
        end
      end

      # Where nobody takes it any more, such as a pager that has ended, it is kept all the same.
      def pass_on(line)
        @echo&.write(line)
      rescue SystemCallError, IOError
        @echo = nil
      end

      # Holds back a line. Without a bound, a server that says too much before it serves would fill our memory.
      def buffer(line)
        @buffer << line
        @buffer.shift if @buffer.size > BUFFER_LINES_MAX
      end

      BUFFER_LINES_MAX = 10_000
      UNWRITTEN_LINES_MAX = 1_000

      def begin_anew
        @file.close
        @older = "#{@path}.older"
        File.rename(@path, @older)
        open_file
      end
    end
  end
end
