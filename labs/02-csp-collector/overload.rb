# frozen_string_literal: true

module PumaTuner
  module Labs
    # What becomes of reports when twice as many come as can be taken: they may wait, or be answered 503. What was answered 201
    # is a line.
    class CspOverload
      # capacity_per_s: of the closed loop before it; cpu_ns: of a request then, kernel_ratio: how much of that in the kernel
      # rate_per_s: then sent; due_count, created_count (201), shed_count (503), other_count: answered otherwise, unanswered_count,
      #   broken_count: connections; lines_count
      # p50_ns, p99_ns: of those that were answered
      Result = Data.define(:variant, :capacity_per_s, :cpu_ns, :kernel_ratio, :rate_per_s, :due_count, :created_count, :shed_count, :other_count,
        :unanswered_count, :broken_count, :lines_count, :p50_ns, :p99_ns) do
        # @return [Integer] reports that were acknowledged and are not there
        def lost_count = [created_count - lines_count, 0].max

        # What is not answered, or on a connection that broke, may have been written.
        # @return [Integer] lines that nobody sent
        def surplus_count = [lines_count - created_count - unanswered_count - broken_count, 0].max
      end

      OVER_CAPACITY = 2
      CONNECTIONS_COUNT = 1_000
      # Until the last of what waits is answered.
      DRAIN_S = 20
      SETTLED_S = 0.3
      TICKS_PER_S = Etc.sysconf(Etc::SC_CLK_TCK)

      # @param commands [Lab::ServedCommands]
      # @param traffic [CspTraffic] of the closed loop
      # @param lines [CspLines]
      def initialize(commands, traffic, lines)
        @commands = commands
        @traffic = traffic
        @lines = lines
      end

      # @param variant [Prove::Variant]
      # @param capacity_s [Numeric] for which it is measured, after as long a warm-up
      # @param overload_s [Numeric]
      # @return [Result]
      def call(variant, capacity_s:, overload_s:)
        @commands.serve(variant) do |server|
          @traffic.send_to(server.url, duration_s: capacity_s)
          before = cpu_ticks(server)
          capacity = @traffic.send_to(server.url, duration_s: capacity_s).ensure_expected_responses
          spent = cpu_ticks(server).zip(before).map { |now, then_| now - then_ }
          overload(variant, server, capacity, spent, overload_s)
        end
      end

      private

      def overload(variant, server, capacity, (user_ticks, kernel_ticks), overload_s)
        rate_per_s = (capacity.throughput_per_s * OVER_CAPACITY).round
        @lines.clear
        outcome = open_loop(rate_per_s).send_to(server.url, duration_s: overload_s)
        ticks = user_ticks + kernel_ticks
        Result.new(variant: variant.name, capacity_per_s: capacity.throughput_per_s, rate_per_s:, **counts(outcome), lines_count: @lines.take(settled_s: SETTLED_S),
          cpu_ns: ticks.fdiv(TICKS_PER_S) * Units::NS_PER_S / capacity.requests_count, kernel_ratio: (kernel_ticks.fdiv(ticks) if ticks.positive?),
          p50_ns: outcome.p50_ns, p99_ns: outcome.p99_ns)
      end

      def open_loop(rate_per_s)
        Load::Traffic.new(mix: @traffic.mix, generator: Load::Native.new(drain_s: DRAIN_S), connections_count: CONNECTIONS_COUNT, seed: @traffic.seed,
          arrivals: Load::Arrivals.open([rate_per_s, 200_000].min))
      end

      def counts(outcome)
        created, shed = outcome.statuses.values_at("201", "503").map(&:to_i)
        {due_count: outcome.intended_count, created_count: created, shed_count: shed, other_count: outcome.requests_count - created - shed,
         unanswered_count: outcome.unanswered_count, broken_count: outcome.socket_errors_count}
      end

      # @return [Array(Integer, Integer)] in Ruby and its extensions, in the kernel, of all processes
      def cpu_ticks(server)
        server.pids.map { |pid| Probe::Processes.read("/proc/#{pid}/stat")[/\) (.*)/, 1].to_s.split.values_at(11, 12).map(&:to_i) }.transpose.map(&:sum)
      end
    end
  end
end
