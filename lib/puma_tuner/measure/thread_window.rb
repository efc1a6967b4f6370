# frozen_string_literal: true

module PumaTuner
  module Measure
    # What each pool thread of this process did since a moment.
    class ThreadWindow
      # "puma srv tp 001", and not "puma tp reap".
      POOL_THREAD = /\Apuma .*tp \d+\z/

      # The places of a thread's numbers; nanoseconds, but for slices_count.
      NAMES = [*GvlClock::TOTALS, :cpu_clock].freeze

      def initialize = restart

      # Forgets what was before.
      def restart
        @before = pool_threads.to_h { |thread| [thread, totals(thread)] }
      end

      # @return [Hash{Thread => Hash{Symbol => Integer}}] NAMES with their numbers, for the threads that are alive;
      #   a thread whose numbers can't be had has nil
      def numbers
        pool_threads.to_h do |thread|
          now = totals(thread)
          before = @before[thread]
          now = now.zip(before).map { |later, earlier| [later - earlier, 0].max } if now && before
          [thread, now && NAMES.zip(now).to_h]
        end
      end

      private

      def pool_threads = Thread.list.select { |thread| POOL_THREAD.match?(thread.name.to_s) }.sort_by(&:name)

      # The totals, and the CPU clock of a thread that is not ours: Linux makes its clock id from the thread id.
      def totals(thread)
        totals = GvlClock.totals(thread) or return
        [*totals, Process.clock_gettime((~thread.native_thread_id << 3) | 6, :nanosecond)]
      rescue SystemCallError # it ended just now
        nil
      end
    end
  end
end
