# frozen_string_literal: true

module PumaTuner
  module Prove
    # Runs one trial, once its server serves.
    class TrialRun
      # outcome: Load::Outcome of the load that counts; conditions: see Conditions; facts: fields of Trial
      # gone: Void of a server that is not what it was, or has failed its load, or nil
      Served = Data.define(:outcome, :conditions, :gone, :facts)

      # A p99 of fewer requests than this is said to be coarse.
      P99_GOOD_COUNT = 1_000

      # @param server [Host::ServerProcess]
      # @param ready [Preparation::Ready]
      # @param traffic [Load::Traffic]
      # @param times [TrialRunner::Times]
      # @param latencies [Array<Metric>] percentiles that are told
      def initialize(server, ready, traffic:, times:, cores_count:, latencies:)
        @latencies = latencies
        @server = server
        @ready = ready
        @traffic = traffic
        @times = times
        @cores_count = cores_count
        @meter = Host::SignalQuery.new(server.directory)
      end

      # Sets clients up, and sends load until the process is steady.
      def warm_up
        @traffic = @traffic.set_up(@server.url)
        @curve = MemoryCurve.new(@server)
        @warmup = Load::WarmupRun.new(traffic: @traffic, window_s: @times.warmup_window_s,
          limit_s: @times.warmup_limit_s, &method(:window)).call
        @pids = @server.pids
        @server.find_services
      end

      # Sends what of the counted load falls to one turn.
      # @param number [Integer] of the turn: the same for all variants, another order of requests for each
      def take_turn(seconds, number)
        before = Host::Readings.take(@server, @meter)
        @began ||= before
        own_cpu_ns = Clock.cpu_ns
        outcome = @curve.during do
          @traffic.with(seed: @traffic.seed + number).send_to(@server.url, duration_s: seconds)
        end
        @own_cpu_ns = @own_cpu_ns.to_i + Clock.cpu_ns - own_cpu_ns
        @after = Host::Readings.take(@server, @meter)
        @spent = @spent ? @spent + (@after - before) : @after - before
        @outcome = @outcome ? @outcome + outcome : outcome
      end

      # @return [Served] after the last turn
      def finish
        fingerprint = Host::WhatRan.of(@server, @meter, @ready.facts)
        conditions = Conditions.of(spent: @spent, gauges: @after.gauges.values, began: @began.gauges.values,
          outcome: @outcome, own_cpu_ns: @own_cpu_ns, cores_count: @cores_count, fingerprint:)
        gone = gone() || failed
        budget = mean_budget unless gone
        Served.new(outcome: @outcome, conditions:, gone:,
          facts: {values: values(budget), warmup: @warmup, memory: @curve.points, conditions:, budget:, fingerprint:,
                  remarks: remarks(conditions)})
      end

      private

      def window(traffic, seconds, first)
        before = Host::Readings.take(@server, @meter)
        outcome = @curve.during do
          if first
            Load::FirstResponse.of(traffic, @server.url, duration_s: seconds)
          else
            traffic.send_to(@server.url, duration_s: seconds)
          end
        end
        ensure_answered(outcome)
        Load::WarmupRun::Window.between(before, Host::Readings.take(@server, @meter), outcome)
      end

      # It is no use to go on with a server that does not answer at all.
      def ensure_answered(outcome)
        return if outcome.requests_count.positive?
        advice = @server.alive? ? "Send it the same requests by hand." : "It has ended; see why below."
        raise ServerFailed.new("The server responded to nothing while it was warmed up (#{outcome.complaint})",
          log_tail: @server.log_tail, advice:)
      end

      # What CPU a process has used is missing where it went away; and on systems without /proc always.
      def gone
        used = @after.cpu_ns || !Probe::Processes.told?
        return if @server.alive? && used && @pids == @after.pids
        kind, detail = (@after.pids - @pids).any? ? %i[replaced workers_replaced] : %i[failed process_gone]
        Void.new(kind:, detail: Statement.of(detail), output: @server.log_tail)
      end

      def failed = @outcome.complaint && Void.failed(@outcome.complaint, output: @server.log_tail)

      def mean_budget
        return unless @times.probe_s.positive?
        observation = Measure::LateWindow.call(@server, @meter) do
          @traffic.send_to(@server.url, duration_s: @times.probe_s)
        end
        count = observation&.requests_count.to_i
        return if count.zero?
        Probe::Budget.new(**observation.budget.to_h.transform_values { |ns| ns && (ns / count) })
      end

      def values(budget)
        count = @outcome.requests_count
        {
          "throughput" => @outcome.throughput_per_s, **latencies(@outcome.counted_count),
          "cpu_per_request" => per_request(@spent.cpu_ns, count), "gc_per_request" => per_request(@spent.gc_ns, count),
          "allocations_per_request" => per_request(@spent.allocated_count, count),
          "gvl_wait_per_request" => budget&.gvl_wait_ns, "pss" => @curve.points.last&.at(1),
          "rss" => @curve.points.last&.at(2), "boot" => @server.boot_ns
        }.compact
      end

      def latencies(count)
        @latencies.select { |metric| count >= metric.least_requests_count }
          .to_h { |metric| [metric.name, @outcome.percentile_ns(metric.percentile)] }
      end

      def per_request(amount, count) = (amount.fdiv(count) if amount && count.positive?)

      def remarks(conditions)
        remarks = @outcome.remarks.map { |text| Statement.of(:told, text:) }
        if @outcome.counted_count < P99_GOOD_COUNT
          remarks << Statement.of(:coarse_p99, requests_count: P99_GOOD_COUNT)
        end
        full = conditions["yjit_code_ratio"]
        remarks << Statement.of(:yjit_limit_near, used_ratio: full) if full && full > Probe::YjitLimit::ALARM_RATIO
        remarks << Statement.of(:connections_short) if @outcome.connection_wait_count.to_i.positive?
        remarks << Statement.of(:fell_behind) if @outcome.fell_behind?
        remarks
      end
    end
  end
end
