# frozen_string_literal: true

module PumaTuner
  module Probe
    # Prints, from inside a serving process and at an interval, where each pool thread's time went and the settings that
    # are recommended: by the forecast that a process beside the server makes (Forecasting), and while there is none, by
    # the rule of thumb, which it says.
    class Console
      # Seconds between two prints, where neither the app nor its environment says.
      INTERVAL_S = 10.0

      # A server starts whatever the variable holds.
      #
      # @return [Float] seconds between two prints, where the app does not say
      def self.interval_s
        text = ENV["PUMA_TUNER_INTERVAL_S"] or return INTERVAL_S
        interval_s = Float(text, exception: false)
        return interval_s if interval_s&.positive? && interval_s.finite?
        Probe.say("PUMA_TUNER_INTERVAL_S=#{text} is no number of seconds above 0; #{INTERVAL_S.round} are taken")
        INTERVAL_S
      end

      # @param ledger_path [String] of this process
      # @param worker_index [Integer, nil] nil in single mode
      # @param interval_s [Numeric] between two prints
      # @param out [IO]
      def initialize(ledger_path:, interval_s:, out:, worker_index: nil)
        @ledger_path = ledger_path
        @worker = "worker #{worker_index} " if worker_index
        @interval_s = interval_s
        @out = out
        @before = {}
      end

      def start
        thread = Thread.new { loop { sleep(@interval_s) && print } }
        thread.name = "puma_tuner console"
        pid = Process.pid
        at_exit { print if Process.pid == pid }
      end

      # Prints the window since the last print, when it held requests.
      def print
        # All else would take the GVL from requests for a tenth of a second, and is not told here.
        ledger = Ledger.read(@ledger_path, traced: false, kind: :pool_thread) or return gone
        after = {@ledger_path => ledger}
        threads = Account.new(@before, after).threads
        @before = after
        busy = threads.reject { |thread| thread.budget.wall_ns.zero? }
        return if busy.empty?
        # One write: other workers print to the same place.
        @out.write(lines_of(busy).map { |line| "#{line}\n" }.join)
        @out.flush
      rescue SystemCallError, IOError => error # a disk that is full, or a pipe that nobody reads, is no fault of ours
        tell("the threads' lines can't be printed (#{error.class}: #{error.message})")
      rescue StandardError, ScriptError => error
        Probe.fault("the threads' lines could not be printed", error)
      end

      private

      # As /dev/shm is emptied by systemd when its user logs out.
      def gone = tell("the threads' lines end, as #{@ledger_path} has gone")

      def tell(text)
        Probe.say(text) unless @told
        @told = true
      end

      def lines_of(threads)
        total = threads.map(&:budget).reduce(:+)
        lines = threads.map { |thread| "#{@worker}#{ThreadLine.format(thread.name, thread.budget)}" }
        [*lines, *ThreadLine.also(total), *recommended(total)]
      end

      def recommended(total)
        forecast = Recommendation.read(File.dirname(@ledger_path))
        settings = forecast&.settings
        if settings
          return [ThreadLine.recommendation(settings.threads_count, workers_count: settings.workers_count,
            today_workers_count: Topology.parse(forecast.today).workers_count), ThreadLine.forecast(forecast),
            *few_places(settings.threads_count)]
        end
        return ThreadLine.pool_first if forecast&.pool_first?
        threads_count = RuleOfThumb.threads_count(cpu_ratio(total))
        [ThreadLine.recommendation(threads_count), *(ThreadLine.no_forecast(forecast) if threads_count),
          *few_places(threads_count)]
      end

      # No lock needs to be watched for that: this process has the pool.
      def few_places(threads_count)
        ThreadLine.few_places(threads_count, BlockingRegions.active_record_connections_count)
      end

      # Returns the share of CPU in an undisturbed request: without waiting for the GVL, for a core, or for locks.
      def cpu_ratio(total)
        total.on_core_ns.fdiv(total.on_core_ns + total.io_ns + total.sleep_ns)
      end
    end
  end
end
