# frozen_string_literal: true

require "delegate"

module PumaTuner
  # The command `puma_tuner`. What its exit codes mean: ManPage::EXIT_CODES.
  module CLI
    PumaTuner.autoload_folder(self, "#{__dir__}/cli")

    # Ends a command that did its work with another code than 0.
    class Exit < SystemExit; end

    # The reader of what the command prints has gone.
    class NobodyReads < StandardError; end

    # What the command prints has no place, such as on a disk that is full.
    class CannotPrint < StandardError; end

    # The commands print to it. A broken pipe is nobody's bug here, and may be one elsewhere.
    class Printer < SimpleDelegator
      NO_PLACE = [Errno::ENOSPC, Errno::EDQUOT, Errno::EFBIG, Errno::EBADF].freeze

      %i[puts print flush].each do |name|
        define_method(name) do |*arguments|
          super(*arguments)
        rescue Errno::EPIPE, Errno::EIO # of a terminal that is gone
          raise NobodyReads
        rescue *NO_PLACE => error
          raise CannotPrint, error.class.new.message
        end
      end
    end

    # The commands tell it how far they have come, and what goes wrong. Where that has no reader and no place any more
    # the work goes on, as there may be hours of it.
    class Teller < SimpleDelegator
      %i[puts print write flush].each do |name|
        define_method(name) do |*arguments|
          super(*arguments)
        rescue SystemCallError, IOError
          nil
        end
      end
    end

    # There when it is needed, as nothing can be made then.
    NO_MEMORY = "puma_tuner: there is not enough memory for this. Give it less to read or to compute, such as a " \
      "smaller file or fewer settings, or run it where there is more."

    STACK_LINES = 30

    HELP_WORDS = %w[--help -h].freeze

    class << self
      # @param arguments [Array<String>]
      # @param clock [#call] seconds that only grow
      # @return [Integer] the exit code
      def call(arguments, out: $stdout, err: $stderr, clock: Clock.method(:now_s))
        # SIGTERM ends us as Ctrl-C does, with everything we started stopped and what there is kept; so does SIGHUP,
        # when the terminal or the connection to it goes, unless `nohup` has us go on. Raised like this, and not by Ruby
        # itself, an interruption can be put off (Thread.handle_interrupt) where it would lose a process that is just
        # being started. SIGHUP counts once: shell and kernel send one each, and a second interruption would lose what
        # is being kept.
        %w[INT TERM HUP].each do |signal|
          before = trap(signal) do
            trap(signal, "IGNORE") if signal == "HUP"
            Thread.main.raise(Interrupt)
          end
          trap(signal, before) if signal == "HUP" && before == "IGNORE"
        end
        out, err = Printer.new(out), Teller.new(err)
        code = ended(err) { run(arguments, out, err, clock) }
        out.flush
        code
      rescue NobodyReads
        err.puts("puma_tuner: its output is no longer read; the files that it named are complete")
        141
      rescue CannotPrint => error
        err.puts("puma_tuner: what it prints could not be written: #{error.message}. Give another place.")
        2
      ensure
        Results.remove_empty
      end

      private

      def ended(err)
        yield
        0
      rescue Exit => exit
        exit.status
      rescue SystemExit => exit
        tell_interrupted(err) if exit.status == 130
        exit.status
      rescue Interrupt
        tell_interrupted(err)
        130
      rescue UsageError => error
        err.puts("puma_tuner: #{error.message}")
        2
      rescue MeasurementFailed => error
        err.puts("puma_tuner: #{error.message}")
        3
      rescue NobodyReads, CannotPrint
        raise
      rescue NoMemoryError
        err.puts(NO_MEMORY)
        3
      rescue SystemStackError => error # has thousands of lines, and which they are the first ones show
        tell_bug(err, error, error.backtrace.to_a.first(STACK_LINES))
      rescue => error
        tell_bug(err, error, error.backtrace)
      end

      # @return [Integer] the exit code
      def tell_bug(err, error, lines)
        err.puts("puma_tuner: this is our bug, please report it: #{error.message} (#{error.class})", lines)
        70
      end

      def tell_interrupted(err) = err.puts("\npuma_tuner: interrupted; everything it started is stopped")

      def run(arguments, out, err, clock)
        CommandLine.ensure_text(arguments)
        words = (arguments.first == "help") ? [*arguments.drop(1), "--help"] : arguments
        return out.puts(Help::FRONT) if words.empty? || HELP_WORDS.include?(words.first)
        if HELP_WORDS.include?(words[1]) && (parts = Commands.parts_of(words.first)).any?
          return out.puts(Help.of_parts(parts))
        end
        command, rest = Commands.find(words)
        return out.puts(Help.new(command).to_s) if rest.take_while { |word| word != "--" }.intersect?(HELP_WORDS)
        # The simulator runs three times as fast with it.
        RubyVM::YJIT.enable if defined?(RubyVM::YJIT.enable)
        values = command.parse(rest)
        Host::Masking.begin(Results.app_folder(**values)) if command.tells_of_an_app?
        command.new(out:, err:, clock:, verbose: values.delete(:verbose) || false).call(**values)
      end
    end
  end
end
