# frozen_string_literal: true

module PumaTuner
  module Measure
    # One window filled by us: starts the app with the probe, warms it up until
    # it is steady, measures while requests are sent.
    class LoadedWindow
      # The warm-up may take so many times as long as it takes at least: until
      # YJIT has compiled most of a Rails app, and its heap has settled.
      WARMUP_LIMIT_FACTOR = 10

      # The share of what the server bore under a closed loop that it is sent at part load: there cores go idle often,
      # and queues are still seen.
      PART_LOAD_RATIO = 0.5

      # Fewer requests at part load say nothing of their CPU.
      PART_LOAD_LEAST_COUNT = 100

      # Seconds. warmup_s: the least, three windows of it; warmup_limit_s: after
      # so long, it is measured though it is not steady
      # duration_s: of the load that is measured; duration_limit_s: when it
      #   takes so long until there are least_requests_count
      # part_load_s: of the part load after it, which follows a closed loop without think time only; 0: none
      Times = Data.define(:warmup_s, :warmup_limit_s, :duration_s, :duration_limit_s, :least_requests_count,
        :part_load_s) do
        def initialize(warmup_s:, duration_s:, warmup_limit_s: warmup_s * WARMUP_LIMIT_FACTOR,
          duration_limit_s: duration_s, least_requests_count: 0, part_load_s: 0)
          super
        end

        # @return [Float] about how long all of it takes, besides the boot
        def expected_s
          [warmup_s.fdiv(Load::WarmupRun::WINDOWS_COUNT) * Load::WarmupRun::USUAL_WINDOWS_COUNT, warmup_limit_s]
            .min + duration_s + part_load_s
        end

        # Cuts the times to so many seconds: first how long a warm-up may take, then all of them, in equal shares.
        # @param seconds [Numeric, nil] that there are; nil: as many as wanted
        # @return [Times]
        def within(seconds)
          return self unless seconds
          share = [seconds.fdiv(warmup_s + duration_s + part_load_s), 1].min
          cut = with(warmup_s: warmup_s * share, duration_s: duration_s * share, duration_limit_s: duration_s * share,
            part_load_s: part_load_s * share)
          left_s = seconds - cut.duration_s - cut.part_load_s
          cut.with(warmup_limit_s: warmup_limit_s.clamp(cut.warmup_s, [left_s, cut.warmup_s].max))
        end
      end

      # @param command [Host::Command]
      # @param traffic [Load::Traffic]
      # @param topology [Topology, nil] nil: the command's own
      # @param locks [Boolean] whether locks and pools are watched, which a simulation of other thread counts needs
      # @param lanes [Boolean] whether it is recorded, for a short while, what each thread does when
      # @param times [Times]
      # @param boot_limit_s [Numeric] seconds in which it must serve
      # @param warmup_s [Numeric, nil] seconds, where no times are given
      # @param duration_s [Numeric, nil] seconds, where no times are given
      def initialize(command:, traffic:, boot_limit_s:, topology: nil, warmup_s: nil, duration_s: nil,
        times: Times.new(warmup_s:, duration_s:), locks: true, lanes: false)
        @command = command
        @traffic = traffic
        @topology = topology
        @times = times
        @boot_limit_s = boot_limit_s
        @locks = locks
        @lanes = lanes
      end

      # @yieldparam what [String] has happened
      # @yieldparam left_s [Float] seconds that the rest should take
      # @return [Observation]
      # @raise [InvalidMeasurement] when a response was not as expected
      def call(&told)
        Host::ServerProcess.run(@command, topology: @topology, measure: true, locks: @locks, meter: true,
          boot_limit_s: @boot_limit_s) do |server|
          told&.call("the app serves, #{Units.duration(server.boot_ns)} after its start", @times.expected_s)
          traffic = @traffic.set_up(server.url)
          warmup = warm_up(server, traffic)
          duration_s = duration_s(warmup)
          server.find_services
          told&.call(warmup.steady ? "it is warm" : "it is not steady yet, and measured all the same",
            duration_s + @times.part_load_s)
          observation = window(server, traffic, duration_s, lanes: @lanes, remarks: unsteady(warmup))
          observation.with(**part_load(server, traffic, observation) do |rate_per_s|
            told&.call("now with #{Units.rate(rate_per_s)} requests/s, whether or not it keeps up", @times.part_load_s)
          end)
        end
      end

      private

      # @return [Observation]
      def window(server, traffic, duration_s, lanes: false, remarks: [])
        collector = Collector.new(server, command: @command.to_s, folder: @command.folder_name, lanes:)
        collector.begin_window
        outcome, taken_ratio = beside_others(server) { traffic.send_to(server.url, duration_s:) }
        outcome.ensure_expected_responses { server.log_tail }
        collector.end_window(load: Probe::LoadSummary.of(outcome, traffic.arrivals, taken_ratio:,
          remarks: [*remarks, *behind(outcome)]))
      end

      # A request takes more CPU on a core that was idle before than on one that always has work: on two virtual cores,
      # requests of 2.3 ms under a closed loop took 2.6 ms at half the load and 2.85 ms at an eighth of it. So what a
      # closed loop shows is too good for requests that come by themselves.
      #
      # @yieldparam rate_per_s [Float] that it is sent
      # @return [Hash] fields of the observation
      def part_load(server, traffic, observation)
        return {} unless @times.part_load_s.positive? && !traffic.arrivals.open? && traffic.arrivals.think_ns.zero?
        rate_per_s = observation.load.throughput_per_s * PART_LOAD_RATIO
        expected_count = (rate_per_s * @times.part_load_s).floor
        if expected_count < PART_LOAD_LEAST_COUNT
          return unknown(observation, :few_expected, requests_count: expected_count)
        end
        yield rate_per_s
        {part_load: window(server, at_rate(traffic, rate_per_s), @times.part_load_s)}
      rescue MeasurementFailed => error
        unknown(observation, :failed, detail: error.kept.lines.first.chomp)
      end

      def unknown(observation, cause, **facts)
        {unknown: [*observation.unknown, Unknown.of(:part_load, cause, **facts)].freeze}
      end

      # Clients that have logged in keep their connections; else there are as many as are needed.
      def at_rate(traffic, rate_per_s)
        connections_count = traffic.clients ? traffic.connections_count : Load::Arrivals::OPEN_CONNECTIONS_COUNT
        traffic.with(arrivals: Load::Arrivals.open(rate_per_s, reuse: traffic.arrivals.reuse), connections_count:)
      end

      # @yieldreturn [Load::Outcome]
      # @return [Array(Load::Outcome, Float)] with the share of the machine that others took meanwhile, nil where nobody
      #   knows
      def beside_others(server)
        own_ns, before = Clock.cpu_ns, Host::Readings.take(server, nil)
        outcome = yield
        spent = Host::Readings.take(server, nil) - before
        foreign_ns = spent.foreign_ns(outcome.generator_cpu_ns&.+(Clock.cpu_ns - own_ns)) or return [outcome, nil]
        cores_count = Probe::MachineFacts.read.cores_count
        [outcome, ([foreign_ns, 0].max + spent.stolen_ns.to_i).fdiv(spent.duration_ns * cores_count)]
      end

      def warm_up(server, traffic)
        meter = Host::SignalQuery.new(server.directory)
        window_s = @times.warmup_s.fdiv(Load::WarmupRun::WINDOWS_COUNT)
        Load::WarmupRun.new(traffic:, window_s:, limit_s: @times.warmup_limit_s) { |traffic, window_s, first|
          before = Host::Readings.take(server, meter)
          # Wrong responses are found at once, or by the load that counts. In
          # between, a slow app may have no response in so short a window.
          outcome = if first
            Load::FirstResponse.of(traffic, server.url, duration_s: window_s)
              .ensure_expected_responses { server.log_tail }
          else
            traffic.send_to(server.url, duration_s: window_s)
          end
          Load::WarmupRun::Window.between(before, Host::Readings.take(server, meter), outcome)
        }.call
      end

      # Returns how long to measure, at the rate of the warm-up.
      def duration_s(warmup)
        least_s = @times.least_requests_count * warmup.duration_ns.fdiv(warmup.requests_count * Units::NS_PER_S)
        least_s.clamp(@times.duration_s, @times.duration_limit_s)
      end

      def behind(outcome)
        return unless outcome.fell_behind?
        "When the load ended, #{outcome.left_count} of #{outcome.intended_count} requests that were due had no " \
          "response: the queue grew to the end, and a longer load would have longer latencies"
      end

      def unsteady(warmup) = warmup.steady ? [] : ["The app was not steady when it was measured: #{warmup.reason}"]
    end
  end
end
