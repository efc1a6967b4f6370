# frozen_string_literal: true

require "ruby-progressbar"

module PumaTuner
  module CLI
    # Tells how far long work has come: a bar with the time left on a terminal, lines elsewhere.
    class Progress
      TICK_S = 0.2

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
        stage = @err.tty? ? Bar.new(@err, title, expected_s) : Lines.new(@err, title, expected_s, @clock)
        value = yield(stage)
        stage.finish
        value
      ensure
        stage&.stop
      end

      # On a terminal.
      class Bar
        def initialize(err, title, expected_s)
          @bar = ProgressBar.create(title:, output: err, total: expected_s ? [(expected_s / TICK_S).ceil, 1].max : 100,
            format: "%t |%B| %p%% %e", length: 79, remove_empty: true, throttle_rate: TICK_S)
          @title = title
          begin_ticking if expected_s
        end

        # @param text [String] what is at hand
        # @param left_s [Numeric, nil] how long the rest should take, where more is known than before
        def note(text, left_s = nil)
          @bar.title = "#{@title}: #{text}"
          return unless left_s
          @bar.total = @bar.progress + [(left_s / TICK_S).ceil, 1].max
          begin_ticking
        end

        # @param steps [Integer] of total
        def done(steps, total)
          @bar.total = total unless @bar.total == total
          @bar.progress = steps
        end

        def finish
          stop
          @bar.finish unless @bar.finished?
        end

        def stop
          @ticker&.kill&.join
          @bar.stop unless @bar.finished? || @bar.stopped?
        end

        private

        # Never to its end: that comes when the work is done.
        def begin_ticking
          @ticker ||= Thread.new do
            loop do
              sleep(TICK_S)
              @bar.increment if @bar.progress < @bar.total - 1
            end
          end
        end
      end

      # In a pipe, a log, a CI job.
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

        def note(text, left_s = nil) = @err.puts("  #{text}#{" (about #{left_s.ceil} s left)" if left_s}")

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
