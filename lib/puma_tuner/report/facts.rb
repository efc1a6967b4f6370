# frozen_string_literal: true

module PumaTuner
  module Report
    # What was measured, on what, under which load.
    class Facts
      # How the probe came into the server.
      WAYS_IN = {"command" => "around the command", "plugin" => "plugin :puma_tuner", "run" => "PumaTuner.run",
                 "rack" => "the middleware", "jobs" => "puma_tuner/jobs", "export" => "PumaTuner.export",
                 "autorun" => "RUBYOPT=-rpuma_tuner/autorun"}.freeze

      # @param facts [Probe::MachineFacts]
      # @return [String]
      def self.machine(facts)
        [
          "#{Figures.counted(facts.cores_count, "core")}#{" (#{facts.cpu_model})" if facts.cpu_model}",
          ("limited to #{Figures.cores(facts.cpu_quota_cores)}" if facts.cpu_quota_cores),
          ("load average #{facts.load_average}" if facts.load_average),
          ("CPU pressure #{Units.percent(facts.cpu_pressure_ratio)}" if facts.cpu_pressure_ratio)
        ].compact.join(", ")
      end

      # @param observation [Probe::Observation]
      def initialize(observation)
        @observation = observation
      end

      # @return [String] all of it in a line
      def sentence
        [[window, server, Facts.machine(@observation.machine), load].join("; "), *remarks].join(". ")
      end

      # @return [Hash{String => String}] the same at more length, by what it is
      def table
        limit_bytes = @observation.machine.memory_limit_bytes
        {
          "window" => "#{window}, from #{@observation.started_at}", "recorded" => recorded,
          "command" => @observation.command, "way in" => WAYS_IN.fetch(@observation.way_in, @observation.way_in),
          "topology" => topology,
          "server" => server, "Ruby" => @observation.server.ruby_description,
          "time slice" => (slice = @observation.server.thread_timeslice_ms) && "#{slice} ms",
          "environment" => @observation.server.rack_environment,
          "machine" => Facts.machine(@observation.machine), "kernel" => @observation.machine.kernel,
          "memory of the machine" => Units.mebibytes(@observation.machine.memory_bytes),
          "memory limit of the container" => (Units.mebibytes(limit_bytes) if limit_bytes),
          "load" => load_in_full,
          "processes" => processes
        }.compact
      end

      # @return [String]
      def window
        "#{counted} in #{Units.duration(@observation.duration_ns)} (#{rates.join(", ")})" \
          "#{" with #{@observation.topology}" if @observation.topology}"
      end

      # @return [String, nil] that figures are not production's
      def development
        return unless @observation.server.rack_environment == "development"
        Unknowns.reason(Unknown.of(:environment, :development)).sub(/\A./, &:upcase)
      end

      # @return [String, nil] at which settings, where at several
      def recorded
        others = @observation.companions.map { |companion| companion.topology.to_s }
        part_load = @observation.part_load&.load
        return if others.empty? && !part_load
        ["Recorded at #{@observation.topology}", *(", then under #{Units.rate(part_load.rate_per_s)}/s" if part_load),
          *(", and briefly at #{Figures.list(others)}" if others.any?)].join
      end

      # @return [String] "7,502 requests and 310 jobs"; a process of jobs only has no requests to speak of
      def counted = Figures.list(counts.map { |noun, count| Figures.counted(count, noun) })

      # @return [Array<String>] "250 requests/s"
      def rates
        per_s = Units::NS_PER_S / @observation.duration_ns.to_f
        counts.map { |noun, count| "#{Units.rate(count * per_s)} #{noun}s/s" }
      end

      # @return [String]
      def server
        facts = @observation.server
        yjit = {true => " with YJIT", false => " without YJIT"}.fetch(facts.yjit_enabled, "")
        ["Ruby #{facts.ruby_version}#{yjit}", ("Puma #{facts.puma_version}" if facts.puma_version)].compact.join(", ")
      end

      # @return [String]
      def load
        load = @observation.load or return "the app's own #{jobs_only? ? "jobs" : "traffic"}"
        "#{Figures.counted(load.connections_count, "connection")} of #{load.generator}"
      end

      # @return [String] what measuring cost, by our own count
      def probe
        probe = @observation.probe
        # Without the extension nothing is counted, and so nothing known.
        return "not counted" unless probe&.cost_per_request_ns&.positive?
        "#{Units.duration(probe.cost_per_cycle_ns)} for each of #{Figures.count(probe.cycles_count)} GVL cycles, " \
          "#{Units.duration(probe.cost_per_request_ns)} for each request#{locks_watched(probe)}" \
          "#{": #{Units.percent(probe.cost_ratio)} of the server's CPU time" if probe.cost_ratio}"
      end

      private

      def locks_watched(probe)
        return unless probe.lock_pairs_count
        ", #{Units.duration(probe.cost_per_lock_pair_ns)} for each of #{Figures.count(probe.lock_pairs_count)} " \
          "watched locks and unlocks"
      end

      # Of whose responses something is doubtful, that must be read first.
      def remarks
        of_companions = @observation.companions.flat_map do |companion|
          remarks_of(companion.load).map { |remark| "At #{companion.topology}: #{remark}" }
        end
        [*remarks_of(@observation.load), *of_companions]
      end

      def remarks_of(load)
        return [] unless load
        [*load.remarks, *("Others took #{Units.percent(load.taken_ratio)} of the machine meanwhile" if load.disturbed?)]
      end

      def jobs_only? = @observation.endpoints.empty? && @observation.jobs.any?

      def counts
        jobs_count = @observation.jobs.sum(&:requests_count)
        {**(jobs_only? ? {} : {"request" => @observation.requests_count}),
          **(jobs_count.positive? ? {"job" => jobs_count} : {})}
      end

      def topology
        topology = @observation.topology or return
        "#{topology}, #{Figures.topology(topology)}#{minimum}"
      end

      def minimum
        minimum = @observation.min_threads_count
        return unless minimum && minimum < @observation.topology.threads_count
        ", at least #{Figures.counted(minimum, "thread")} kept"
      end

      def load_in_full
        summary = @observation.load or return load
        "#{load}, #{Figures.counted(summary.requests_count, "request")} at " \
          "#{Units.rate(summary.throughput_per_s)}/s, " \
          "p50 #{Units.duration(summary.p50_ns)}, p99 #{Units.duration(summary.p99_ns)} as the client saw them; " \
          "#{Figures.counted(summary.unexpected_count, "unexpected response")}"
      end

      def processes
        @observation.processes.map { |process|
          memory = "#{Units.mebibytes(process.pss_bytes)} PSS" if process.pss_bytes
          ["#{process.role} #{process.worker_index}".strip, memory].compact.join(": ")
        }.join(", ")
      end
    end
  end
end
