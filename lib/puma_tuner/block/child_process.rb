# frozen_string_literal: true

module PumaTuner
  module Block
    # A fresh process that works on a block file, from its start to its end. It
    # never outlives the call, nor does what it started.
    class ChildProcess
      PROGRAM = File.expand_path("program.rb", __dir__)

      # The user's at_exit may take so long after the last report.
      EXIT_LIMIT_S = 2

      # So much is kept of what it writes to standard error.
      OUTPUT_BYTES = 8_192
      OUTPUT_LINES = 8

      # @param command [Host::Command] that ends in a Ruby
      # @param file [String]
      # @param words [Array<String>] mode, and what it needs besides the file, see Child
      # @param boot_limit_s [Numeric] until Ruby runs, again until the file is loaded, again for the first iteration
      # @param run_limit_s [Numeric] from then on
      # @return [Ending]
      # @raise [UsageError] when the command can't be started
      def self.call(command, file, words, boot_limit_s:, run_limit_s: boot_limit_s)
        child = new(command, file, words)
        child.start
        broken_limit_s = child.wait(boot_limit_s, run_limit_s)
        child.stop
        child.ending(broken_limit_s)
      ensure
        child&.stop
      end

      def initialize(command, file, words)
        @command = command
        @file = File.expand_path(file)
        @words = words
        @reports = {}
        @events = Queue.new
        @listening = []
        @output = "".b
      end

      def start
        reports, report = IO.pipe(binmode: true)
        output, error_output = IO.pipe(binmode: true)
        @child = Host::Child.new(*command_with(report), **streams(report, error_output))
        @child.start
        # A pipe that is left open here would keep them from ending with the child.
        [report, error_output].each(&:close)
        @listening = listen(reports, output)
      rescue SystemCallError => error
        raise UsageError, "#{@command} could not be started: #{error.message}. Check that it is installed and " \
          "spelled correctly."
      ensure
        [report, error_output, *([reports, output] if @listening.empty?)].each { |io| io&.close }
      end

      # @return [Numeric, nil] seconds, the limit that it broke
      def wait(boot_limit_s, run_limit_s)
        limit_s = boot_limit_s
        loop do
          case @events.pop(timeout: limit_s)
          when nil then return limit_s
          when "called" then limit_s = run_limit_s
          when "listed", "counted", "profiled", "failed" then return @child.wait(EXIT_LIMIT_S) && nil
          when :ended then return
          end
        end
      end

      # Makes sure that it is gone, and its group with it. Safe to call again, and when it never started.
      def stop
        @child&.stop
        @listening.each { |thread| thread.join(EXIT_LIMIT_S) || thread.kill.join }
      end

      # @return [Ending]
      def ending(broken_limit_s)
        output = Probe::Processes.text(@output).lines(chomp: true).last(OUTPUT_LINES)
        Ending.new(reports: @reports, status: @child.wait, limit_s: broken_limit_s, output:)
      end

      private

      def command_with(report)
        mode, *settings = @words
        [@command.environment.merge(Probe::KeyedHash::VARIABLE => Host::Masking.key), *@command.words, "-I",
          LIBRARY_PATH, PROGRAM, mode, report.fileno.to_s, @file, *settings]
      end

      # Its standard output goes nowhere: what a block prints while it is
      # repeated is of no use, and keeping it takes time.
      def streams(report, error_output)
        {report => report, :in => File::NULL, :out => File::NULL, :err => error_output, :chdir => @command.directory,
         :unsetenv_others => true}
      end

      def listen(reports, output)
        hearing = Thread.new { hear(reports) }
        keeping = Thread.new { keep(output) }
        # Its last report may still be in the pipe when it has ended; and what it left behind may keep that open.
        telling = Thread.new do
          @child.wait
          hearing.join(1)
          @events << :ended
        end
        [hearing, keeping, telling]
      end

      def hear(reports)
        loop do
          what, content = Marshal.load(reports) # rubocop:disable Security/MarshalLoad -- written by our own child
          @reports[what] = content
          @events << what
        end
      rescue IOError, ArgumentError, TypeError
        nil # it ended, perhaps while it wrote
      ensure
        reports.close
      end

      def keep(output)
        loop do
          text = @output << output.readpartial(65_536)
          @output = text.byteslice(-OUTPUT_BYTES, OUTPUT_BYTES) || text
        end
      rescue IOError
        nil # it ended
      ensure
        output.close
      end
    end
  end
end
