# frozen_string_literal: true

module PumaTuner
  module Prove
    # Runs the trials of a round: a fresh server for each variant, warmed up until it is steady, then the load that counts,
    # without the probe; then, in the same process, a shorter load with the probe, which tells where the time goes.
    #
    # The variants take turns at the load: what the neighbours of a shared machine do to one, they
    # do to the other, too (after Bulej and others, "Duet benchmarking", 2020, who run both at once). A server whose turn it is
    # not is idle.
    class TrialRunner
      # What starting and stopping a server takes, about.
      BOOT_S = 1.5

      # And starting the generator, for each turn.
      TURN_S = 0.15

      # A turn must be long beside a request, for what is under way when it ends does not count.
      TURN_IN_LATENCIES = 20

      # Seconds: window and limit of the warm-up; the load, in so many turns; the load with the probe, 0 for none.
      Times = Data.define(:warmup_window_s, :warmup_limit_s, :duration_s, :turns_count, :probe_s, :boot_limit_s) do
        # @return [Float] about how long one trial takes
        def expected_s = BOOT_S + WarmupRun::WINDOWS_COUNT * (warmup_window_s + TURN_S) + duration_s + turns_count * TURN_S + probe_s + 0.5
      end

      # @param preparation [#call] Variant -> Preparation::Ready
      # @param traffic [Load::Traffic] what to send, with which generator
      # @param times [Times]
      # @param probe [#call, nil] server, meter and a block that sends load -> Measure::Observation of it, or nil
      # @param busy_machine [Boolean] whether trials count though others use the machine; that is remarked
      # @param placement [Host::Placement] which cores are the servers'
      def initialize(preparation:, traffic:, times:, probe: nil, busy_machine: false, placement: Host::Placement.none)
        @busy_machine = busy_machine
        @placement = placement
        @preparation = preparation
        @traffic = traffic
        @times = times
        @probe = probe
        @earlier = Hash.new { |trials, name| trials[name] = [] }
        @cores_count = Host::MachineFacts.read.cores_count
      end

      # @return [Float] about how long one trial takes
      def expected_s = @times.expected_s

      # @return [Hash{String => Load::Outcome}] of each variant's last trial
      def outcomes = (@outcomes ||= {})

      # @param order [Array<Variant>]
      # @return [Array<Trial>]
      def together(order, round:)
        return order.each_with_index.flat_map { |variant, position| trials([variant], round, position) } if turns_count == 1
        trials(order, round, 0)
      end

      # @return [Integer] as many as were asked for, or as the slowest variant and the generator allow
      def turns_count
        return 1 unless @traffic.generator.adds_up?
        return @times.turns_count unless @slowest_ns
        (@times.duration_s * Units::NS_PER_S / (TURN_IN_LATENCIES * @slowest_ns)).floor.clamp(1, @times.turns_count)
      end

      # A short look at a variant before the rounds.
      # @return [Array(Hash{String => String}, Load::Outcome)] the fingerprint of what runs, and its answers
      def look(variant)
        serve(variant) do |server, ready|
          outcome = FirstAnswer.of(@traffic, server.url, duration_s: [@times.warmup_window_s, 0.5].min)
          @slowest_ns = [@slowest_ns, outcome.mean_ns].compact.max
          [WhatRan.of(server, Host::Meter::Asking.new(server.directory), ready), outcome]
        end
      end

      private

      # Of servers that are up at the same time.
      def trials(variants, round, first_position)
        serving(variants, round) do |runs|
          runs.each { |variant, run| Named.by(variant, round) { run.warm_up } }
          turns_count.times { |number| take_turns(number.odd? ? runs.reverse : runs, round, number) }
          runs.each_with_index.map { |(variant, run), index| Named.by(variant, round) { finished(run.finish, variant, round, first_position + index) } }
        end
      end

      def take_turns(runs, round, number)
        runs.each { |variant, run| Named.by(variant, round) { run.take_turn(@times.duration_s.fdiv(turns_count), number) } }
      end

      def serving(variants, round, runs = [], &block)
        return yield(runs) if variants.empty?
        variant, *others = variants
        Named.by(variant, round, boot: true) do |booted|
          serve(variant) do |server, ready|
            booted.call
            run = TrialRun.new(server, ready, traffic: @traffic, times: @times, probe: @probe, cores_count: @cores_count)
            serving(others, round, [*runs, [variant, run]], &block)
          end
        end
      end

      def finished(served, variant, round, position)
        outcomes[variant.name] = served.outcome
        disturbed = Laws.disturbed(served.conditions, @earlier[variant.name])
        reason = served.gone || Laws.broken(served.outcome, served.conditions, arrivals: @traffic.arrivals, turns_count:) || (disturbed unless @busy_machine)
        remarks = (disturbed && @busy_machine) ? ["trials were disturbed by other work on the machine, and count all the same"] : []
        trial = Trial.new(variant: variant.name, round:, position:, requests_count: served.outcome.requests_count, void_reason: reason,
          **served.facts, remarks: served.facts.fetch(:remarks) + remarks)
        @earlier[variant.name] << trial unless reason
        trial
      end

      def serve(variant)
        ready = @preparation.call(variant)
        kind = ready.other_server ? Host::OtherServer : Host::ServerProcess
        kind.run(@placement.keep_off(ready.command), topology: ready.topology, puma_options: ready.puma_options, meter: true, boot_limit_s: @times.boot_limit_s) do |server|
          yield server, ready
        end
      end
    end
  end
end
