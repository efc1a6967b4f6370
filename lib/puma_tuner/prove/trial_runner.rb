# frozen_string_literal: true

module PumaTuner
  module Prove
    # Runs one trial: a fresh server without the probe, a warm-up, the load, and what server and client say of it.
    class TrialRunner
      # @param command [Host::Command]
      # @param traffic [Load::Traffic] what to send, with which generator
      def initialize(command:, traffic:, warmup_s:, duration_s:, boot_limit_s:)
        @command = command
        @traffic = traffic
        @warmup_s = warmup_s
        @duration_s = duration_s
        @boot_limit_s = boot_limit_s
      end

      # @return [Float] about how long one trial takes
      def expected_s = @warmup_s + @duration_s + 1.5

      # @return [Trial]
      def call(variant, round:, position:)
        Host::ServerProcess.run(@command, topology: variant.topology, boot_limit_s: @boot_limit_s) do |server|
          @traffic.send_to(server.url, duration_s: @warmup_s)
          cpu_before = cpu_ns(server)
          outcome = @traffic.send_to(server.url, duration_s: @duration_s)
          cpu_after = cpu_ns(server)
          trial(variant, round, position, outcome, cpu_after && cpu_before && cpu_after - cpu_before, server)
        end
      end

      private

      def cpu_ns(server)
        clocks = server.pids.map { |pid| Host::Processes.cpu_ns(pid) }
        clocks.sum unless clocks.include?(nil)
      end

      def trial(variant, round, position, outcome, cpu_ns, server)
        Trial.new(
          variant: variant.name, round:, position:, throughput_per_s: outcome.throughput_per_s, mean_ns: outcome.mean_ns,
          p50_ns: outcome.p50_ns, p99_ns: outcome.p99_ns, requests_count: outcome.requests_count,
          cpu_per_request_ns: (cpu_ns.fdiv(outcome.requests_count).round if cpu_ns && outcome.requests_count.positive?),
          pss_bytes: pss_bytes(server), cpu_pressure_ratio: Host::MachineFacts.read.cpu_pressure_ratio,
          void_reason: void_reason(outcome, cpu_ns)
        )
      end

      def pss_bytes(server)
        memories = server.pids.map { |pid| Host::Processes.memory(pid)[:pss_bytes] }
        memories.sum unless memories.include?(nil)
      end

      # On causes only: never on whether the figures please.
      def void_reason(outcome, cpu_ns)
        return outcome.complaint if outcome.complaint
        "a process of the server went away under load" unless cpu_ns
      end
    end
  end
end
