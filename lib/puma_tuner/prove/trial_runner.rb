# frozen_string_literal: true

module PumaTuner
  module Prove
    # Runs one trial: a fresh server, warmed up until it is steady, then the load that counts, without the probe; then, in
    # the same process, a shorter load with the probe, which tells where the time goes.
    class TrialRunner
      # What starting and stopping a server takes, about.
      BOOT_S = 1.5

      # Seconds: window and limit of the warm-up; the load; the load with the probe, 0 for none.
      Times = Data.define(:warmup_window_s, :warmup_limit_s, :duration_s, :probe_s, :boot_limit_s) do
        # @return [Float] about how long one trial takes
        def expected_s = BOOT_S + WarmupRun::WINDOWS_COUNT * (warmup_window_s + 0.15) + duration_s + probe_s + 0.5
      end

      # @param preparation [#call] Variant -> Preparation::Ready
      # @param traffic [Load::Traffic] what to send, with which generator
      # @param times [Times]
      # @param probe [#call, nil] server, meter and a block that sends load -> Measure::Observation of it, or nil
      # @param busy_machine [Boolean] whether trials count though others use the machine; that is remarked
      def initialize(preparation:, traffic:, times:, probe: nil, busy_machine: false)
        @busy_machine = busy_machine
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

      # @return [Trial]
      def call(variant, round:, position:)
        served = serve(variant) { |server, ready| TrialRun.new(server, ready, traffic: @traffic, times: @times, probe: @probe, cores_count: @cores_count).call }
        outcomes[variant.name] = served.outcome
        finished(served, variant, round, position).tap { |trial| @earlier[variant.name] << trial unless trial.void_reason }
      end

      # A short look at a variant before the rounds.
      # @return [Array(Hash{String => String}, Load::Outcome)] the fingerprint of what runs, and its answers
      def look(variant)
        serve(variant) do |server, ready|
          outcome = @traffic.send_to(server.url, duration_s: [@times.warmup_window_s, 0.5].min)
          [WhatRan.of(server, Host::Meter::Asking.new(server.directory), ready), outcome]
        end
      end

      private

      def finished(served, variant, round, position)
        disturbed = Laws.disturbed(served.conditions, @earlier[variant.name])
        reason = served.gone || Laws.broken(served.outcome, served.conditions, arrivals: @traffic.arrivals) || (disturbed unless @busy_machine)
        remarks = (disturbed && @busy_machine) ? ["trials were disturbed by other work on the machine, and count all the same"] : []
        Trial.new(variant: variant.name, round:, position:, requests_count: served.outcome.requests_count, void_reason: reason,
          **served.facts, remarks: served.facts.fetch(:remarks) + remarks)
      end

      def serve(variant)
        ready = @preparation.call(variant)
        kind = ready.other_server ? Host::OtherServer : Host::ServerProcess
        kind.run(ready.command, topology: ready.topology, puma_options: ready.puma_options, meter: true, boot_limit_s: @times.boot_limit_s) do |server|
          yield server, ready
        end
      end
    end
  end
end
