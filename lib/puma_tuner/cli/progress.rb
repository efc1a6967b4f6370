# frozen_string_literal: true

require "io/console"

module PumaTuner
  module CLI
    # Tells how far long work has come: a bar with the time left on a terminal, lines elsewhere.
    class Progress
      # @param what [String, Statement]
      # @return [String]
      def self.words(what) = what.is_a?(Statement) ? Report::Statements.words(what) : what

      # @param err [IO]
      # @param clock [#call] seconds that only grow
      def initialize(err, clock:)
        @err = err
        @clock = clock
      end

      # @param sweeper [Predict::Sweeper]
      # @return [Predict::Sweep]
      def sweep(sweeper, scenarios)
        stage("predict", nil) { |stage| sweeper.call(scenarios) { |done, total| stage.done(done, total) } }
      end

      # @param title [String] what is being done
      # @param expected_s [Numeric, nil] how long it should take; nil: the work tells its steps
      # @yieldparam stage [#note, #done] to tell what is at hand, or how many steps are done
      # @return what the block returns
      def stage(title, expected_s)
        stage = @err.tty? ? Bar.new(@err, title, expected_s, @clock) : Lines.new(@err, title, expected_s, @clock)
        value = yield(stage)
        stage.finish
        value
      ensure
        stage&.stop
      end

      # Draws one line anew on a terminal, with the share that is done and the time left.
      class Bar
        # In a narrower window a line would go on below, and each drawing would leave one more.
        WIDTH = 79
        BAR_LEAST = 10
        TICK_S = 0.2

        # Work that takes longer than expected stays here: it ends when it is done.
        RATIO_MOST = 0.99

        def initialize(err, title, expected_s, clock)
          @err = err
          @title = @text = title
          @clock = clock
          @began_s = clock.call
          expect(expected_s) if expected_s
          draw
        end

        # @param what [String, Statement] is at hand
        # @param left_s [Numeric, nil] how long the rest should take, where more is known than before
        def note(what, left_s = nil)
          @text = "#{@title}: #{Progress.words(what)}"
          expect(left_s) if left_s
          draw
        end

        # @param steps [Integer] of total
        def done(steps, total)
          @done_ratio = steps.fdiv(total)
          draw if @clock.call - @drawn_s >= TICK_S
        end

        def finish
          stop_ticking
          @done_ratio = 1.0
          draw
        end

        def stop
          stop_ticking
          @err.puts unless @stopped
          @stopped = true
        end

        private

        def expect(left_s)
          @ends_s = @clock.call + left_s
          @ticker ||= Thread.new do
            loop do
              sleep(TICK_S)
              draw
            end
          end
        end

        def stop_ticking = @ticker&.kill&.join

        def ratio
          return @done_ratio if @done_ratio
          return 0.0 unless @ends_s
          [(@drawn_s - @began_s) / [@ends_s - @began_s, TICK_S].max, RATIO_MOST].min
        end

        def draw
          @drawn_s = @clock.call
          share = ratio
          rest = format("| %d%%%s", share * 100, time_left(share))
          width = room
          text = @text[0, [width - rest.size - BAR_LEAST - 2, 0].max]
          bar_size = [width - rest.size - text.size - 2, 0].max
          line = "#{text} |#{("=" * (share * bar_size)).ljust(bar_size)}#{rest}"
          # The line is cleared behind it, as the one before may have been longer.
          @err.print("\r#{line[0, width]}\e[K")
        end

        # @return [Integer] columns of the window as it is now, but for the last, behind which a new line may begin
        def room
          columns = @err.respond_to?(:winsize) ? @err.winsize.last : 0
          columns.positive? ? [WIDTH, columns - 1].min : WIDTH
        rescue SystemCallError
          WIDTH
        end

        def time_left(share)
          return if share.zero? || share == 1
          left_s = @ends_s ? @ends_s - @drawn_s : (@drawn_s - @began_s) * (1 - share) / share
          format(", %d:%02d left", *[left_s.ceil, 0].max.divmod(60)) if left_s.positive?
        end
      end

      # Prints lines into a pipe, a log, a CI job.
      class Lines
        # Steps of the work are told when this share more is done.
        SHARE = 0.25

        def initialize(err, title, expected_s, clock)
          @err = err
          @title = title
          @clock = clock
          @began_s = clock.call
          @told_ratio = 0.0
          @err.puts("#{title} …#{" (about #{expected_s.ceil} s)" if expected_s}")
        end

        def note(what, left_s = nil)
          @err.puts("  #{Progress.words(what)}#{" (about #{left_s.ceil} s left)" if left_s}")
        end

        def done(steps, total)
          return if steps.fdiv(total) < @told_ratio + SHARE || steps == total
          @told_ratio = steps.fdiv(total)
          note("#{steps} of #{total}")
        end

        def finish = @err.puts("#{@title}: done in #{(@clock.call - @began_s).round(1)} s")

        def stop = nil
      end
    end
  end
end
