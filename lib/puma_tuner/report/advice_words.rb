# frozen_string_literal: true

module PumaTuner
  module Report
    # Advice in words: the only place that has them.
    module AdviceWords
      LIMITS = {"threads" => "its threads", "gvl" => "the GVL", "cores" => "the cores",
                "clients" => "the number of connections",
                "none" => "nothing at this rate"}.freeze
      WHO = {"today" => "Today", "advised" => "Advised"}.freeze

      # An advice as people read it. evidence: sentences
      Told = Data.define(:title, :evidence, :change, :cost, :undo)

      # By kind of a statement, with its facts where it has some.
      WORDS = {
        told: ->(text:) { text },
        # Of settings: titles.
        stay: ->(today:) { "Stay with #{today}" },
        stay_unmet: ->(today:, constraints:) {
          "Stay with #{today}: nothing predicted meets " \
            "#{AdviceWords.limits(constraints)}"
        },
        go: ->(today:, advised:, constraints:, **gain) {
          "Go from #{today} to #{advised}#{", to meet #{AdviceWords.limits(constraints)}" if constraints}: " \
            "#{AdviceWords.gain(**gain)}"
        },
        go_to_steady: ->(today:, advised:) { "Go from #{today} to #{advised}: #{today} has no steady state" },
        no_topology: ->(constraints:, arrivals:) {
          "No topology predicted #{"meets #{AdviceWords.limits(constraints)} and " if constraints}has a " \
            "steady state with #{AdviceWords.load(arrivals)}"
        },
        measure_first: ->(missed:) {
          "No setting is recommended without a measurement: the model misses the throughput it recorded " \
            "(#{missed.map { |topology, ratio| "at #{topology} by #{Units.change(ratio)}" }.join(", ")})"
        },
        # Evidence.
        not_reproduced: ->(setting:) { SelfCheckWords.brief(Predict::CheckedSetting.from_document(setting)) },
        wider_intervals: "All intervals are wider by that.",
        unsteady: ->(who:, topology:, reason:) { "#{WHO.fetch(who)}, #{topology}: no steady state, as #{reason}." },
        predicted: ->(who:, topology:, per_s:, p50_ns:, p99_ns:, bottleneck:, seeds_count:) {
          "#{WHO.fetch(who)}, #{topology}: #{AdviceWords.rate(per_s)} predicted in " \
            "#{Units.counted(seeds_count, "simulation")}, p50 #{AdviceWords.duration(p50_ns)}, " \
            "p99 #{AdviceWords.duration(p99_ns)}; limited by #{LIMITS.fetch(bottleneck)}."
        },
        none_better: ->(open:, constrained:) {
          "No other topology " \
            "#{constrained ? "that meets the constraints" : "predicted"} " \
            "#{open ? "has a lower p99" : "gives more requests/s"}."
        },
        little_better: ->(open:, topology:, per_s:, p99_ns:, slots_count:, instead_count:, **difference) {
          "#{topology} is predicted #{open ? "with" : "at #{AdviceWords.rate(per_s)} and"} a p99 of " \
            "#{AdviceWords.duration(p99_ns)}, with #{Units.counted(slots_count, "slot")} " \
            "instead of #{instead_count}: #{AdviceWords.not_more(open:, **difference)}."
        },
        rule_of_thumb: ->(cpu_ratio:, threads_count:, topology:, predicted:, per_s:) {
          found = per_s ? "is predicted at #{AdviceWords.rate(per_s)}" : "has no steady state"
          "The rule of thumb, 100 over the CPU percentage (#{Units.percent(cpu_ratio)}), gives " \
            "#{Units.counted(threads_count, "thread")}: #{topology} " \
            "#{predicted ? found : "is outside the topologies predicted"}."
        },
        constraints: ->(constraints:, met_count:, all_count:, supposed:) {
          all = Units.counted(all_count, "topology", "topologies")
          met = "#{met_count} of #{all} meet it#{SUPPOSED.fetch(supposed)}."
          kept = AdviceWords.constraints(constraints)
          next "Asked for: #{kept}; #{met}" unless kept.of_container?
          "Kept to: #{kept}; #{met} `--max-memory` sets another limit."
        },
        other_load: ->(recorded:, arrivals:) {
          "The recording had #{AdviceWords.load(recorded)}; this is about " \
            "#{AdviceWords.load(arrivals)}."
        },
        recorded_load: ->(arrivals:) {
          "Of all that was predicted, this is about #{AdviceWords.load(arrivals)}, as " \
            "recorded."
        },
        assumed: ->(what_if:) { "Assumed, and not measured: #{what_if.join("; ")}." },
        # Change, cost and undo.
        puma_options: ->(topology:) { "puma #{Topology.parse(topology).to_puma_options}" },
        nothing: "none",
        slots: ->(slots_counts:, workers_counts:, memory_bytes:) {
          processes = "#{Units.counted(workers_counts.first, "worker")}, today #{workers_counts.last} (memory unknown)"
          megabytes = memory_bytes&.map { |bytes| Units.mebibytes(bytes) }
          memory = megabytes ? "#{megabytes.first} of memory, today #{megabytes.last}" : processes
          "#{memory}; room for #{slots_counts.first} database connections, today #{slots_counts.last}"
        },
        something_larger: "more workers or threads than were predicted, a machine with more cores, or less work in " \
          "each request",
        resources_or_work: "memory and database connections, a machine, or work on the code",
        measure: ->(topologies:) {
          "measure the likeliest settings: `puma_tuner prove --topologies #{topologies.join(",")}` with the " \
            "recording's app and load, or `puma_tuner tune`, which puts them into its proof"
        },
        minutes: "the minutes that it takes",
        nothing_changed: "nothing is changed",
        # Of garbage collection.
        gc_share: ->(ratio:) { "GC takes #{Units.percent(ratio)} of the CPU time" },
        gc_of_cpu: ->(ratio:) { "GC runs for #{Units.percent(ratio)} of the CPU time that requests use." },
        most_gc: ->(endpoint:, gc_ns:, cpu_ns:, requests_count:) {
          "Most of it in #{endpoint}: #{Units.duration(gc_ns)} of #{Units.duration(cpu_ns)} of CPU time (mean of " \
            "#{requests_count} recorded requests)."
        },
        profile_allocations: "look with a profiler at what allocates in the endpoints named; then at Ruby's GC " \
          "settings (RUBY_GC_*)",
        work_or_gc_settings: "work on the code; GC settings trade memory for time",
        gc_variables: "the RUBY_GC_* variables as they were",
        # Of locks.
        waits_for_locks: "Requests wait for locks, and more threads make it worse",
        lock_of_endpoint: ->(endpoint:, ratio:, lock_ns:, requests_count:) {
          "#{endpoint} waits for locks for #{Units.percent(ratio)} of its time, #{Units.duration(lock_ns)} of a " \
            "request (mean of #{requests_count} recorded)."
        },
        more_endpoints: ->(endpoints_count:) { "#{Units.counted(endpoints_count, "endpoint")} more." },
        lock_of_all: ->(ratio:, pool_ratio:) {
          "Of all requests together it is #{Units.percent(ratio)}; " \
            "#{Units.percent(pool_ratio)} of that is for a connection pool."
        },
        larger_pool: "raise the size of the pool that the threads wait for (for a database: `pool`, at least the " \
          "threads of a worker), or hold its members for less long",
        connections: "a connection more for each place in the pool, in each worker",
        pool_size: "the old pool size",
        lock_less: "hold the lock that they share for less long, or take it less often; the log's is one, which a " \
          "thread holds while it writes a line and waits for the GVL " \
          "afterwards (fewer lines, in Rails by `config.log_level`, show whether it is that one); or fewer threads " \
          "in each of more workers, as processes share no such lock",
        work_or_less_log: "work on the code, or what the log no longer tells",
        code_or_log_level: "the code or the log level as it was",
        # Of long bursts.
        long_bursts: "Long computations make other requests of the same worker wait",
        bursts_of_endpoint: ->(endpoint:, long_count:, requests_count:, long_ns:, longest_ns:) {
          "#{endpoint}: #{long_count} of #{requests_count} recorded requests keep the GVL for " \
            "#{Units.duration(long_ns)} or more at a stretch, #{Units.duration(longest_ns)} at the longest."
        },
        others_wait: ->(threads_count:) {
          "With more than one thread (today #{threads_count}), a request back from " \
            "its IO waits until the burst or the time slice is over, each time."
        },
        short_timeslice: ->(timeslice_ms:) {
          "RUBY_THREAD_TIMESLICE=#{timeslice_ms} in the environment of Puma; or " \
            "the long work in a background job"
        },
        longer_bursts: "requests with long bursts take longer, as the others no longer wait for them",
        timeslice: ->(timeslice_ms:) {
          timeslice_ms ? "RUBY_THREAD_TIMESLICE=#{timeslice_ms}" : "unset RUBY_THREAD_TIMESLICE"
        },
        job_or_workers: "the long work in a background job; or more workers with fewer threads",
        job_or_memory: "a job queue; or memory for the workers",
        work_back: "the work back in the request; or the old topology"
      }.freeze

      # How memory that was not recorded was held against a limit.
      SUPPOSED = {
        nil => nil, "nothing_shared" => ", with processes that were not recorded taken to share nothing",
        "no_more_workers" => ", as no more workers than today's: what they take is unknown"
      }.freeze

      class << self
        # @param advice [Advise::Advice]
        # @return [Told]
        def of(advice)
          Told.new(evidence: advice.evidence.map { |statement| words(statement) },
            **%i[title change cost undo].to_h { |field| [field, words(advice.public_send(field))] })
        end

        # @param statement [Statement]
        # @return [String]
        def words(statement)
          words = WORDS.fetch(statement.kind) { return statement.kind.to_s.tr("_", " ") }
          words.is_a?(Proc) ? words.call(**statement.facts.transform_keys(&:to_sym)) : words
        end

        # @param range [Array<Numeric>] middle, low, high
        def rate(range) = "#{Units.rate(range[0])} requests/s (#{Units.rate(range[1])} to #{Units.rate(range[2])})"

        def duration(range) = "#{Units.duration(range[0])} (#{Units.duration(range[1])} to #{Units.duration(range[2])})"

        def gain(throughput_ratio: nil, slots_less_count: nil, p99_ratio: nil)
          return "#{Units.change(throughput_ratio)} requests/s" if throughput_ratio
          return "as many requests/s with #{Units.counted(slots_less_count, "slot")} less" if slots_less_count
          "as many requests/s, #{Units.change(p99_ratio)} p99"
        end

        def not_more(open:, ratio:, margin_ratio:)
          return "not #{Units.percent(margin_ratio)} #{open ? "less" : "more"}" if margin_ratio
          "the difference of #{Units.change(ratio[0])} (#{Units.change(ratio[1])} to #{Units.change(ratio[2])}) may " \
            "be none, and of such settings the one with the fewest slots is taken"
        end

        # @return [Advise::Constraints]
        def constraints(fields) = Advise::Constraints.from_document(fields)

        # @return [String]
        def load(fields) = Model::Arrivals.from_document(fields).to_s

        def limits(fields) = constraints(fields).to_s
      end
    end
  end
end
