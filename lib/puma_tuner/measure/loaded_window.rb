# frozen_string_literal: true

module PumaTuner
  module Measure
    # One window filled by us: starts the app with the probe, warms it up until
    # it is steady, measures while requests are sent.
    class LoadedWindow
      # The warm-up may take so many times as long as it takes at least: until
      # YJIT has compiled most of a Rails app, and its heap has settled.
      WARMUP_LIMIT_FACTOR = 10

      # Seconds. warmup_s: the least, three windows of it; warmup_limit_s: after
      # so long, it is measured though it is not steady
      # duration_s: of the load that is measured; duration_limit_s: when it
      #   takes so long until there are least_requests_count
      Times = Data.define(:warmup_s, :warmup_limit_s, :duration_s, :duration_limit_s, :least_requests_count) do
        def initialize(warmup_s:, duration_s:, warmup_limit_s: warmup_s * WARMUP_LIMIT_FACTOR,
          duration_limit_s: duration_s, least_requests_count: 0)
          super
        end

        # @return [Float] about how long all of it takes, besides the boot
        def expected_s
          [warmup_s.fdiv(Load::WarmupRun::WINDOWS_COUNT) * Load::WarmupRun::USUAL_WINDOWS_COUNT, warmup_limit_s]
            .min + duration_s
        end

        # Cuts the times to so many seconds: first how long a warm-up may take, then all of them, in equal shares.
        # @param seconds [Numeric, nil] that there are; nil: as many as wanted
        # @return [Times]
        def within(seconds)
          return self unless seconds
          share = [seconds.fdiv(warmup_s + duration_s), 1].min
          cut = with(warmup_s: warmup_s * share, duration_s: duration_s * share, duration_limit_s: duration_s * share)
          cut.with(warmup_limit_s: warmup_limit_s.clamp(cut.warmup_s, [seconds - cut.duration_s, cut.warmup_s].max))
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
          told&.call(warmup.steady ? "it is warm" : "it is not steady yet, and measured all the same", duration_s)
          collector = Collector.new(server, command: @command.to_s, lanes: @lanes)
          collector.begin_window
          outcome, taken_ratio = beside_others(server) { traffic.send_to(server.url, duration_s:) }
          outcome.ensure_expected_responses
          collector.end_window(load: Probe::LoadSummary.of(outcome, @traffic.arrivals, taken_ratio:,
            remarks: unsteady(warmup)))
        end
      end

      private

      # @yieldreturn [Load::Outcome]
      # @return [Array(Load::Outcome, Float)] with the share of the machine that others took meanwhile, nil where nobody
      #   knows
      def beside_others(server)
        own_ns, before = own_cpu_ns, Host::Readings.take(server, nil)
        outcome = yield
        spent = Host::Readings.take(server, nil) - before
        foreign_ns = spent.foreign_ns(outcome.generator_cpu_ns&.+(own_cpu_ns - own_ns)) or return [outcome, nil]
        cores_count = Probe::MachineFacts.read.cores_count
        [outcome, ([foreign_ns, 0].max + spent.stolen_ns.to_i).fdiv(spent.duration_ns * cores_count)]
      end

      def own_cpu_ns = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID, :nanosecond)

      def warm_up(server, traffic)
        meter = Host::SignalQuery.new(server.directory)
        window_s = @times.warmup_s.fdiv(Load::WarmupRun::WINDOWS_COUNT)
        Load::WarmupRun.new(window_s:, limit_s: @times.warmup_limit_s) { |window_s, first|
          before = Host::Readings.take(server, meter)
          # Wrong responses are found at once, or by the load that counts. In
          # between, a slow app may have no response in so short a window.
          outcome = if first
            Load::FirstResponse.of(traffic, server.url, duration_s: window_s).ensure_expected_responses
          else
            traffic.send_to(server.url, duration_s: window_s)
          end
          Load::WarmupRun::Window.between(before, Host::Readings.take(server, meter), outcome.requests_count)
        }.call
      end

      # Returns how long to measure, at the rate of the warm-up.
      def duration_s(warmup)
        least_s = @times.least_requests_count * warmup.duration_ns.fdiv(warmup.requests_count * Units::NS_PER_S)
        least_s.clamp(@times.duration_s, @times.duration_limit_s)
      end

      def unsteady(warmup) = warmup.steady ? [] : ["The app was not steady when it was measured: #{warmup.reason}"]
    end
  end
end
