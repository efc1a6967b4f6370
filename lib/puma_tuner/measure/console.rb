# frozen_string_literal: true

module PumaTuner
  module Measure
    # Prints, from inside a serving process and at an interval, where each pool thread's time went and the thread count
    # that follows. It has the rule of thumb only; `puma_tuner tune` simulates.
    class Console
      # Locks of this share of the pool threads' time are worth a line: they look like IO and are not cured by threads.
      LOCK_RATIO = 0.01

      # @param interval_s [Numeric] between two prints
      # @param out [IO]
      def initialize(server:, interval_s:, out:)
        @server = server
        @interval_s = interval_s
        @out = out
        @threads = ThreadWindow.new
        @requests_count = 0
      end

      def start
        thread = Thread.new { loop { sleep(@interval_s) && print } }
        thread.name = "puma_tuner console"
        pid = Process.pid
        at_exit { print if Process.pid == pid }
      end

      # Prints the window since the last print, when it held requests.
      def print
        count = @server.requests_count - @requests_count
        return if count.zero?
        lines = lines_of(@threads.numbers.filter_map { |thread, numbers| [thread.name, ThreadBudget.of(numbers)] if numbers })
        # One write: other workers print to the same place.
        @out.write(lines.map { |line| "#{line}\n" }.join) unless lines.empty?
        @out.flush
        @requests_count += count
        @threads.restart
      end

      private

      def lines_of(budgets)
        busy = budgets.reject { |_, budget| budget.wall_ns.zero? }
        return [] if busy.empty?
        total = busy.map(&:last).reduce(:+)
        lines = busy.map { |name, budget| ThreadLine.format(name, budget) }
        lines << lock_line(total) if total.share_ratio(:lock) >= LOCK_RATIO
        lines << ThreadLine.recommendation(RuleOfThumb.threads_count(cpu_ratio(total)))
      end

      # Of an undisturbed request: without waiting for the GVL, for a core, or for locks.
      def cpu_ratio(total)
        cpu_ns = total.cpu_ns + total.gc_ns
        cpu_ns.fdiv(cpu_ns + total.io_ns + total.sleep_ns)
      end

      def lock_line(total)
        "puma_tuner: #{Units.percent(total.share_ratio(:lock))} of the threads' time went into waiting for locks, which more threads make worse"
      end
    end
  end
end
