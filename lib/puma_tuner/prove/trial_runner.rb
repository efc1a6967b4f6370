# frozen_string_literal: true

module PumaTuner
  module Prove
    # Runs the trials of a round: a fresh server for each variant, warmed up until
    # it is steady, then the load that counts, without the probe; then, in the same
    # process, a shorter load with the probe, which tells where the time goes.
    #
    # The variants take turns at the load: what the neighbours of a shared machine do to one, they do to the other, too
    # (after Bulej and others, "Duet benchmarking", 2020, who run both at once). A server whose turn it is not is idle.
    class TrialRunner
      # These are guesses, where nobody has looked, of what it takes to start and stop a server, and of what a load
      # takes beside its own duration.
      BOOT_S = 1.5
      LOAD_S = 0.15

      # A server takes so long to stop, and to answer what else it is asked in a trial.
      STOP_S = 0.5

      # A turn must be long beside a request, for what is under way when it ends is in no throughput.
      TURN_IN_LATENCIES = 20

      # What a request costs is counted of all that are answered, those included. So where costs alone decide, turns
      # may be shorter, and help the more: docs/reference/prove.md has by how much. Throughput and latencies of such
      # turns are no facts, as their ends cut too many requests in two.
      COST_TURN_IN_LATENCIES = 2

      # A trial must be long beside a request, too: shorter ones are made so long.
      DURATION_IN_LATENCIES = 5

      # Seconds: window and limit of the warm-up; the load, in so many turns; the load with the probe, 0 for none.
      Times = Document.define(:warmup_window_s, :warmup_limit_s, :duration_s, :turns_count, :probe_s, :boot_limit_s)

      # @param preparation [#call] Variant -> Preparation::Ready
      # @param traffic [Load::Traffic] what to send, with which generator
      # @param times [Times]
      # @param placement [Host::Placement] which cores are the servers'
      # @param metrics [Array<Metric>] whose percentiles are told
      # @param decisive [Array<String>] names of the metrics that somebody goes by
      def initialize(preparation:, traffic:, times:, placement: Host::Placement.none, metrics: Metric::SERVED,
        decisive: [])
        @placement = placement
        costs_alone = decisive.any? && (decisive - Metric::COSTS).empty?
        @turn_in_latencies = costs_alone ? COST_TURN_IN_LATENCIES : TURN_IN_LATENCIES
        @latencies = metrics.select(&:percentile)
        @preparation = preparation
        @traffic = traffic
        @times = times
        @cores_count = Probe::MachineFacts.read.cores_count
        @boot_s, @load_s = BOOT_S, LOAD_S
        @took_s = []
      end

      # @return [Times] may be set before the rounds
      attr_accessor :times

      # @return [Float] about how many seconds one trial takes: as those so far
      #   did, or by what the look at the variants told
      def expected_s = @took_s.any? ? @took_s.sum / @took_s.size : trial_s(@times)

      # @param times [Times]
      # @return [Float] about how many seconds a trial of such times takes
      def trial_s(times)
        warmup_s = (Load::WarmupRun::USUAL_WINDOWS_COUNT * (times.warmup_window_s + @load_s))
          .clamp(0, [times.warmup_limit_s, Load::WarmupRun::WINDOWS_COUNT * (times.warmup_window_s + @load_s)].max)
        @boot_s + warmup_s + times.duration_s + turns_count(times) * @load_s +
          (times.probe_s.positive? ? times.probe_s + @load_s : 0) + STOP_S
      end

      # @param metric [Metric]
      # @return [Numeric] seconds of load below which a trial has too few requests for it, as far as the load tells
      def least_duration_s(metric)
        @traffic.arrivals.open? ? @traffic.arrivals.duration_s_of(metric.least_requests_count) : 0
      end

      # Makes what the variant runs, before anything is timed.
      # @return [void]
      # @raise [UsageError] when it can't be had
      def prepare(variant) = @preparation.call(variant)

      # @return [Hash{String => Load::Outcome}] of each variant's last trial
      def outcomes = (@outcomes ||= {})

      # @param order [Array<Variant>]
      # @return [Array<Trial>]
      def together(order, round:)
        began_s = Clock.now_s
        found = if turns_count == 1
          order.each_with_index.flat_map { |variant, position| trials([variant], round, position) }
        else
          trials(order, round, 0)
        end
        @took_s << (Clock.now_s - began_s) / order.size
        found
      end

      # In an open loop there is one. A pause between two would empty a queue that grows: where a server is asked for 5%
      # more than it can do, a request waits 25 ms at the end of half a second, and 200 ms at the end of four.
      #
      # @param times [Times]
      # @return [Integer] as many as were asked for, or as the load, the slowest variant and the generator allow
      def turns_count(times = @times)
        return 1 if @traffic.arrivals.open? || !@traffic.generator.adds_up?
        return times.turns_count unless @slowest_ns
        least_ns = @turn_in_latencies * @slowest_ns
        (times.duration_s * Units::NS_PER_S / least_ns).floor.clamp(1, times.turns_count)
      end

      # @return [Boolean] whether they are so short that throughput and latencies are no facts
      def short_turns?
        count = turns_count
        @turn_in_latencies < TURN_IN_LATENCIES && count > 1 && !@slowest_ns.nil? &&
          @times.duration_s * Units::NS_PER_S / count < TURN_IN_LATENCIES * @slowest_ns
      end

      # A short look at a variant before the rounds: at what runs, at its
      # answers, and at how long it takes for them once it is no longer cold.
      # @return [Array(Hash, Load::Outcome)] the fingerprint of what runs, and its responses
      # @raise [InvalidMeasurement] when one is not as expected
      def look(variant)
        window_s = [@times.warmup_window_s, 0.5].min
        serve(variant) do |server, ready|
          traffic = set_up(server)
          outcome = Load::FirstResponse.of(traffic, server.url, duration_s: window_s)
          outcome.ensure_expected_responses { server.log_tail }
          time_responses(server, traffic, [window_s, 2 * outcome.mean_ns.fdiv(Units::NS_PER_S)].max, outcome)
          [Host::WhatRan.of(server, Host::SignalQuery.new(server.directory), ready.facts), outcome]
        end
      end

      private

      # The time that its clients' first requests take is told as part of the boot.
      def set_up(server)
        began_s = Clock.now_s
        @traffic.set_up(server.url).tap do
          @boot_s = [@boot_s, server.boot_ns.fdiv(Units::NS_PER_S) + Clock.now_s - began_s].max
        end
      end

      # The time that a load takes besides its duration goes to the first responses, the last ones, and starting the
      # generator.
      def time_responses(server, traffic, window_s, cold)
        began_s = Clock.now_s
        outcome = traffic.send_to(server.url, duration_s: window_s)
        @load_s = [@load_s, Clock.now_s - began_s - window_s].max
        @slowest_ns = [@slowest_ns, outcome.mean_ns || cold.mean_ns].compact.max
        least_s = DURATION_IN_LATENCIES * @slowest_ns.fdiv(Units::NS_PER_S)
        @times = @times.with(duration_s: least_s) if @times.duration_s < least_s
      end

      # Runs trials of servers that are up at the same time.
      def trials(variants, round, first_position)
        serving(variants, round) do |runs|
          runs.each { |variant, run| Named.by(variant, round) { run.warm_up } }
          turns_count.times { |number| take_turns(number.odd? ? runs.reverse : runs, round, number) }
          runs.each_with_index.map do |(variant, run), index|
            Named.by(variant, round) { finished(run.finish, variant, round, first_position + index) }
          end
        end
      end

      def take_turns(runs, round, number)
        runs.each do |variant, run|
          Named.by(variant, round) { run.take_turn(@times.duration_s.fdiv(turns_count), number) }
        end
      end

      def serving(variants, round, runs = [], &block)
        return yield(runs) if variants.empty?
        variant, *others = variants
        Named.by(variant, round, boot: true) do |booted|
          serve(variant) do |server, ready|
            booted.call
            run = TrialRun.new(server, ready, traffic: @traffic, times: @times, cores_count: @cores_count,
              latencies: @latencies)
            serving(others, round, [*runs, [variant, run]], &block)
          end
        end
      end

      def finished(served, variant, round, position)
        outcomes[variant.name] = served.outcome
        void = served.gone ||
          ValidityChecks.failed(served.outcome, served.conditions, arrivals: @traffic.arrivals, turns_count:)
        Trial.new(variant: variant.name, round:, position:, requests_count: served.outcome.counted_count, void:,
          **served.facts)
      end

      # @return [String, nil] what else may be wrong where a checkout does not boot
      def lacking(ready)
        return if ready.ignored.empty?
        "The checkout lacks what git ignores: if it needs that, add --copy #{ready.ignored.join(",")}."
      end

      def serve(variant)
        ready = @preparation.call(variant)
        kind = ready.other_server ? Host::OtherServer : Host::ServerProcess
        kind.run(@placement.keep_off(ready.command), topology: ready.topology, puma_options: ready.puma_options,
          meter: true, boot_limit_s: @times.boot_limit_s, boot_advice: lacking(ready)) do |server|
          yield server, ready
        end
      end
    end
  end
end
