# frozen_string_literal: true

require "fileutils"

module PumaTuner
  module Profile
    # A whole server under load, all its processes and threads: started by us, warmed up, then looked at in windows, so
    # that what a profiler or an app breaks later costs the window and not the profile.
    class ServerRun
      BOOT_S = 2

      # A profiler may need so long to write what it has.
      STOP_LIMIT_S = 120

      # Seconds of a window.
      WINDOW_S = 5.0

      # The costs that could be taken, and why they are not all.
      Taken = Data.define(:costs, :broken)

      # @param command [Host::Command]
      # @param traffic [Load::Traffic, nil] nil: whatever requests come by themselves
      # @param settings [Probe::Profiling::Settings] scope "window" or "outliers"
      # @param profiler [Class] of Profilers
      def initialize(command:, traffic:, settings:, profiler:, warmup_s:, duration_s:, boot_limit_s:,
        topology: nil, echo: nil)
        @command = command
        @traffic = traffic
        @settings = settings
        @profiler = profiler
        @warmup_s = warmup_s
        @duration_s = duration_s
        @boot_limit_s = boot_limit_s
        @topology = topology
        @echo = echo
        @files = []
        @requests_count = 0
        @profiled_ns = 0
        @unanswered_count = 0
      end

      # @return [Float] about how long it takes
      def expected_s = BOOT_S + (@traffic ? @warmup_s : 0) + @duration_s

      # @return [Taken] broken: nil, or why it ended before its time
      # @raise [MeasurementFailed] when nothing was taken at all
      def call
        FileUtils.mkdir_p(@settings.folder)
        broken = serve
        raise broken if @files.empty? && broken
        Taken.new(costs:, broken: broken&.message)
      end

      private

      # @return [Error, nil] that ended it
      def serve
        Host::ServerProcess.run(command, topology: @topology, **bind, meter: true, boot_limit_s: @boot_limit_s,
          echo: @echo) do |server|
          @signal_query = Host::SignalQuery.new(server.directory)
          @traffic &&= @traffic.set_up(server.url)
          warm_up(server) if @traffic && @warmup_s.positive?
          @gems = Host::WhatRan.gems(server, @signal_query)
          windows.each { |duration_s| look(server, duration_s) }
        end
        nil
      rescue ServerFailed, InvalidMeasurement, LoadToolFailed => error
        error
      end

      # An app's first response may take longer than its warm-up.
      def warm_up(server)
        deadline_s = Clock.now_s + @boot_limit_s
        loop do
          outcome = @traffic.send_to(server.url, duration_s: @warmup_s)
          if outcome.requests_count.positive?
            break outcome.unexpected_count.zero? || outcome.ensure_expected_responses { server.log_tail }
          end
          raise ended(server) unless server.alive?
          outcome.ensure_expected_responses { server.log_tail } if Clock.now_s > deadline_s
        end
      end

      def command = @command.with(environment: {**@command.environment, **@settings.to_environment})

      # Its own traffic comes to its own address.
      def bind = @traffic ? {} : {bind: nil}

      def windows
        count = [(@duration_s / WINDOW_S).round, 1].max
        Array.new(count) { @duration_s.fdiv(count) }
      end

      def look(server, duration_s)
        pids = server.serving_pids
        return look_from_outside(server, pids, duration_s) if @profiler::OUTSIDE
        ask(Probe::Profiling::START, pids, server) do |count|
          "only #{count} of #{pids.size} processes could be told to start. Check that the server starts Puma in the " \
          "usual way."
        end
        began_ns = Clock.now_ns
        outcome = fill(duration_s, server)
        ended_ns = Clock.now_ns
        # Nobody can tell what requests cost in some of the processes that served them.
        stopped = ask(Probe::Profiling::STOP, pids, server) do |count|
          "#{pids.size - count} of #{pids.size} processes ended while #{@profiler::NAME} looked at them"
        end
        @files.concat(stopped.values)
        @profiled_ns += ended_ns - began_ns
        @requests_count += outcome.requests_count if outcome
      end

      def look_from_outside(server, pids, duration_s)
        path = File.join(@settings.folder, "#{@profiler::NAME}-#{@files.size + 1}#{@profiler::EXTENSION}")
        watching = Thread.new { @profiler.new.record(pids:, path:, duration_s:) }
        watching.report_on_exception = false
        outcome = fill(duration_s, server)
        watching.value
        @files << path
        looked_ns = (duration_s * Units::NS_PER_S).round
        @profiled_ns += looked_ns
        # The load is longer by the time in which it settles.
        @requests_count += (outcome.in_time_count * [looked_ns.fdiv(outcome.sending_ns), 1].min).round if outcome
      ensure
        watching&.join
      end

      def fill(duration_s, server)
        return send_for(duration_s, server) if @traffic
        sleep(duration_s)
        nil
      end

      # @yieldparam count [Integer] how many answered, where it is not all
      # @yieldreturn [String] what is wrong with that
      # @return [Hash{Integer => String}] each one's reply
      def ask(question, pids, server)
        replies = @signal_query.call(question, pids, limit_s: STOP_LIMIT_S)
        raise InvalidMeasurement, yield(replies.size) if replies.size < pids.size
        replies
      rescue InvalidMeasurement => error
        raise error if server.alive?
        raise ended(server)
      end

      def ended(server)
        ServerFailed.new("The server ended while #{@profiler::NAME} looked at it", log_tail: server.log_tail,
          advice: "Does it end without the profiler, too? Another profiler may do: puma_tuner profile --list.")
      end

      def send_for(duration_s, server)
        outcome = @traffic.send_to(server.url, duration_s:)
        raise ended(server) unless server.alive?
        ensure_expected(outcome) { server.log_tail }
      end

      # Where every call is followed, a window may end before the requests in it
      # do: those that it holds are told all the same.
      def ensure_expected(outcome, &)
        unless @profiler::TRACING && outcome.requests_count.positive? && outcome.unexpected_count.zero?
          return outcome.ensure_expected_responses(&)
        end
        @unanswered_count += outcome.unanswered_count.to_i
        outcome
      end

      def costs
        facts = {duration_ns: @profiled_ns, work_count: (@requests_count if @traffic), gems: @gems}
        reading = Reading.new(profiler: @profiler, mode: @settings.mode, target: target,
          command: Host::Masking.own_command)
        return outlier_costs(reading, facts) if @settings.scope == "outliers"
        reading.call(@files, unknown: unknown, **facts)
      end

      def outlier_costs(reading, facts)
        logs = @files.to_h { |path| [path, Outliers.read("#{path}.requests")] }
        outliers = Outliers.new(logs.values)
        if outliers.count.zero?
          raise InvalidMeasurement, "none of #{outliers.seen_count} requests is an outlier of its " \
            "endpoint. Give it a longer --duration."
        end
        reasons = outliers.reasons.map { |reason, count| "#{reason}: #{count}" }.join(", ")
        facts = {**facts, work_count: outliers.count, work_noun: "outlier request"}
        costs = reading.call(@files, unknown:, **facts) { |samples, path| outliers.inside(samples, logs.fetch(path)) }
        costs.with(target: "#{target}; only the #{outliers.count} outliers of #{outliers.seen_count} requests " \
          "(#{reasons})")
      end

      def target = "#{@command}, all threads#{", #{@topology}" if @topology}#{" under our load" if @traffic}"

      def unknown
        return [Unknown.of(:work_count, :nobody_counted)] unless @traffic
        @unanswered_count.zero? ? [] : [Unknown.of(:exact_figures, :under_way, requests_count: @unanswered_count)]
      end
    end
  end
end
