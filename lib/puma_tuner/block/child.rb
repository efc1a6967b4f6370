# frozen_string_literal: true

module PumaTuner
  module Block
    # Inside the fresh process: loads the file, warms its block up, counts, and reports.
    #
    # It reports through a pipe of its own, as the block may print, and by Marshal, as JSON is a gem whose version may
    # be just what is compared. Reports are [what, content]:
    #   started, nil         Ruby runs
    #   loaded, names        the file is loaded, with these blocks
    #   listed, nil          that was all that was asked for
    #   called, nil          the first iteration is over
    #   counted, Hash        of Counting, with warmup, memory and fingerprint
    #   profiled, Hash       path of the profiler's file, name of the block, duration_ns and iterations_count of it
    #   failed, Hash         what the user's Ruby raised: as text, and as kept in documents, without the message, which
    #                        may hold anything
    class Child
      # Of the message of what the user's Ruby raised.
      LINES_MAX = 8

      # No place of the user's: Ruby's own, and ours.
      NOT_THEIRS = %r{\A<internal:|\A#{Regexp.escape(File.expand_path("..", __dir__))}/}
      private_constant :LINES_MAX, :NOT_THEIRS

      # @param words [Array<String>] "list", "run" or "profile", number of the pipe, file, and what these methods take
      def self.main(words)
        mode, pipe, file, *settings = words
        # The user's file finds what it would find run by Ruby itself.
        words.clear
        $PROGRAM_NAME = file
        reports = IO.for_fd(Integer(pipe), "wb")
        reports.close_on_exec = true
        new(reports, file).public_send(mode, *settings)
      end

      # @param reports [IO]
      # @param file [String] absolute
      def initialize(reports, file)
        @reports = reports
        @file = file
      end

      def list
        reporting do
          load_file
          report("listed")
        end
      end

      # @param warmup_limit_s [String] a number
      # @param duration_s [String] a number
      # @param name [String, nil] nil: the only block
      def run(warmup_limit_s, duration_s, name = nil)
        reporting do
          declaration = load_file.find(name)
          repetition = Repetition.new(declaration.body)
          repetition.repeat(1)
          report("called")
          settling = Settling.new(repetition, limit_ns: (Float(warmup_limit_s) * Units::NS_PER_S).round)
          warmup = settling.call
          counted = Counting.call(repetition, duration_ns: (Float(duration_s) * Units::NS_PER_S).round)
          report("counted",
            {**counted, warmup:, memory: settling.memory,
            fingerprint: {**Probe::Fingerprint.read, [:block, nil] => declaration.name}})
        end
      end

      # @param warmup_s [String] a number
      # @param duration_s [String] a number
      # @param iterations_count [String] a number; empty: as many as fit into duration_s
      # @param name [String, nil] nil: the only block
      def profile(warmup_s, duration_s, iterations_count, name = nil)
        reporting do
          declaration = load_file.find(name)
          repetition = Repetition.new(declaration.body)
          repetition.repeat(1)
          report("called")
          repetition.for((Float(warmup_s) * Units::NS_PER_S).round)
          report("profiled", {name: declaration.name, **profiled(repetition, duration_s, iterations_count)})
        end
      end

      private

      def profiled(repetition, duration_s, iterations_count)
        before = repetition.iterations_count
        session = Probe::Profiling.session(Probe::Profiling::Settings.from_environment)
        session.start
        began_ns = Clock.now_ns
        if iterations_count.empty?
          repetition.for((Float(duration_s) * Units::NS_PER_S).round)
        else
          repetition.repeat(Integer(iterations_count))
        end
        duration_ns = Clock.now_ns - began_ns
        {path: session.stop, duration_ns:, iterations_count: repetition.iterations_count - before}
      end

      def reporting
        report("started")
        yield
      rescue SignalException
        raise # killed by somebody: to end by the signal says so
      rescue Exception => error # rubocop:disable Lint/RescueException -- all that the user's Ruby raises
        report("failed", {text: told(error), kept: placed(ours?(error) ? what(error) : error.class.to_s, error)})
      end

      # A message of Ruby's parser has the place in it, and the lines around.
      def told(error) = error.is_a?(SyntaxError) ? lines(error.message) : placed(what(error), error)

      # @return [String] "RuntimeError: boom (/path/file.rb:3)", with the first line of the backtrace that is of the
      #   user's file, else of the user's
      def placed(text, error)
        backtrace = error.backtrace.to_a.grep_v(NOT_THEIRS)
        line = backtrace.find { |entry| entry.start_with?("#{@file}:") } || backtrace.first
        [text, *line&.slice(/\A.+?:\d+/)&.then { |place| "(#{place})" }].join(" ")
      end

      def what(error)
        case error
        when Error then error.message
        when SystemExit then "it called exit, with status #{error.status}"
        else "#{error.class}: #{lines(error.message)}"
        end
      end

      def ours?(error) = error.is_a?(Error) || error.is_a?(SystemExit)

      def lines(text) = text.scrub.lines.first(LINES_MAX).join.strip

      def load_file
        declarations = Declarations.of(@file)
        report("loaded", declarations.all.map(&:name))
        declarations
      end

      def report(what, content = nil)
        @reports.write(Marshal.dump([what, content]))
        @reports.flush
      end
    end
  end
end
