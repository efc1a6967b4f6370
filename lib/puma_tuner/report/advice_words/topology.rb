# frozen_string_literal: true

module PumaTuner
  module Report
    module AdviceWords
      # What Advise::Rules::Topology says.
      TOPOLOGY = {
        # Titles.
        stay: ->(today:) { "Stay with #{today}" },
        stay_unmet: ->(today:, constraints:) {
          "Stay with #{today}: nothing predicted meets #{AdviceWords.limits(constraints)}"
        },
        go: ->(today:, advised:, constraints:, **gain) {
          "Go from #{today} to #{advised}#{", to meet #{AdviceWords.limits(constraints)}" if constraints}: " \
            "#{AdviceWords.gain(**gain)}"
        },
        go_cheapest: ->(today:, advised:, constraints:, throughput_ratio: nil) {
          "Go from #{today} to #{advised}, the cheapest that meets #{AdviceWords.limits(constraints)}" \
            "#{": #{AdviceWords.gain(throughput_ratio:)}" if throughput_ratio}"
        },
        go_to_steady: ->(today:, advised:) { "Go from #{today} to #{advised}: #{today} has no steady state" },
        go_to_more: ->(today:, advised:, per_s:, arrivals:, machines_count:) {
          "Go from #{today} to #{advised}, which bears the most, #{AdviceWords.rate(per_s)}: nothing that was " \
            "predicted bears #{AdviceWords.load(arrivals)}, which takes " \
            "#{Units.counted(machines_count, "such machine")}"
        },
        go_by_proof: ->(today:, advised:) { "Go from #{today} to #{advised}, which the proof showed to be better" },
        no_topology: ->(constraints:, arrivals:) {
          "No topology predicted #{"meets #{AdviceWords.limits(constraints)} and " if constraints}has a " \
            "steady state with #{AdviceWords.load(arrivals)}"
        },
        measure_first: ->(missed:) {
          "No setting is recommended without a measurement: the model misses the throughput it recorded " \
            "(#{missed.map { |topology, ratio| "at #{topology} by #{Units.change(ratio)}" }.join(", ")})"
        },
        # Evidence.
        queries_before: ->(endpoint:) {
          "First fewer queries of #{endpoint}, then tune again: this is advised for the app as it is."
        },
        not_reproduced: ->(setting:) { SelfCheckWords.brief(Predict::CheckedSetting.from_document(setting)) },
        wider_intervals: "All intervals are widened by this.",
        unsteady: ->(who:, topology:, reason:) {
          "#{WHO.fetch(who)}, #{topology}: no steady state, as #{Statements.nested(reason)}."
        },
        predicted: ->(who:, topology:, per_s:, p50_ns:, p99_ns:, bottleneck:, seeds_count:) {
          "#{WHO.fetch(who)}, #{topology}: #{AdviceWords.rate(per_s)} predicted in " \
            "#{Units.counted(seeds_count, "simulation")}, p50 #{AdviceWords.duration(p50_ns)}, " \
            "p99 #{AdviceWords.duration(p99_ns)}; limited by #{LIMITS.fetch(bottleneck)}."
        },
        best_for_all_that: ->(advised:, load_ratios:) {
          "#{advised} is recommended nevertheless, as it is the best with " \
            "#{load_ratios.map { |ratio| Units.percent(ratio) }.join(" and with ")} of this load, too: an app that " \
            "can take less than its model says meets a load as the model meets a heavier one."
        },
        better_for_all_that: ->(advised:, today:, ratio:) {
          # That is above 1, and may round to no change.
          least = (ratio.round(2) > 1) ? "#{Units.change(ratio)} requests/s over" : "no fewer requests/s than"
          "#{advised} is recommended nevertheless: even at the lower end of the wider interval it has #{least} " \
            "#{today}. Which of such settings is the best is less sure, so `puma_tuner tune` measures the likeliest " \
            "ones."
        },
        by_proof: ->(today:, advised:, former:, former_better:) {
          told = former_better ? " and than" : ", but did not show that of"
          "The proof showed #{advised} to be better than #{today}" \
            "#{"#{told} #{former}, which was recommended before" if former}: what was measured goes before forecasts."
        },
        none_better: ->(open:, constrained:) {
          others = constrained ? "that meets the constraints" : "predicted"
          "No other topology #{others} #{open ? "has a lower p99" : "gives more requests/s"}."
        },
        little_better: ->(open:, topology:, per_s:, p99_ns:, slots_count:, instead_count:, **difference) {
          "#{topology} is predicted #{open ? "with" : "at #{AdviceWords.rate(per_s)} and"} a p99 of " \
            "#{AdviceWords.duration(p99_ns)}, with #{Units.counted(slots_count, "slot")} " \
            "instead of #{instead_count}: #{AdviceWords.not_more(open:, **difference)}."
        },
        too_few_clients: ->(slots_count:, clients_count:, wanted_count:) {
          "#{Units.counted(clients_count, "connection")} can't keep today's #{Units.counted(slots_count, "slot")} " \
            "busy, so nothing is known of what these are for, and no fewer are advised. Raise `--connections`, to " \
            "#{wanted_count} or more, or name your load with `--at`."
        },
        heaps_differ: ->(gc_ratio:, margin_ratio:) {
          "The app collects garbage for #{Units.percent(gc_ratio)} of its CPU. How much that is follows how full a " \
            "server's heap happens to be, and differs from start to start by more than a few threads make of it: of " \
            "settings whose p99 is predicted at most #{Units.percent(margin_ratio)} apart the one with the fewest " \
            "slots is taken."
        },
        worse_with_more: ->(topology:, load_ratio:, p99_ns:, top:, top_p99_ns:) {
          found = p99_ns ? "a p99 of #{AdviceWords.duration(p99_ns)}" : "no steady state"
          "#{topology} has fewer slots and is as good, but with #{Units.percent(load_ratio)} of this load it " \
            "has #{found}, and #{top} one of #{AdviceWords.duration(top_p99_ns)}; forecasts may be that far off."
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
          next "Asked for: #{kept}; #{met}" unless kept.unasked?
          free_bytes = kept.max_memory_bytes - kept.usable_bytes
          keeping = free_bytes.positive? && supposed != "no_more_workers"
          free = ", #{Units.mebibytes(free_bytes)} of it left free" if keeping
          "Kept to: #{kept}#{free}; #{met} `--memory` sets another limit."
        },
        other_load: ->(recorded:, arrivals:) {
          "The recording had #{AdviceWords.load(recorded)}; this is about #{AdviceWords.load(arrivals)}."
        },
        recorded_load: ->(arrivals:) {
          "Of all that was predicted, this is about #{AdviceWords.load(arrivals)}, as recorded."
        },
        assumed: ->(what_if:) { "Assumed, and not measured: #{what_if.join("; ")}." },
        too_few_places: ->(size:, places_count:, threads_count:, others_count: 0) {
          others = " and #{others_count} besides that were seen to query, as those of jobs do" if others_count.positive?
          "Active Record's pool has #{Units.counted(size, "place")} in each worker, for " \
            "#{Units.counted(threads_count, "thread")}#{others}: the line for config/database.yml makes it " \
            "#{places_count}. Forecasts are of the pool as it is, and so is a proof, unless that file reads the size " \
            "from the environment."
        },
        unseen_pool: ->(places_count:) {
          "Active Record's pool was not seen (locks were not watched): with more threads it needs " \
            "#{Units.counted(places_count, "place")} in each worker, in config/database.yml, or requests wait for a " \
            "connection and fail after five seconds."
        },
        no_hooks: ->(hook:) {
          "A single process runs no hooks of workers (`before_fork`, `#{hook}` of config/puma.rb): see that the app " \
            "needs nothing of what is done there, or do it elsewhere, too."
        },
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
        pool_before_threads: ->(advised:) {
          "No more threads before the pool of connections has more places (#{advised} would be predicted)"
        },
        watch_pool: "a place in the pool for each thread, then record again with locks watched (`puma_tuner tune`, " \
          "or `measure --locks`)",
        minutes: "the minutes that it takes",
        nothing_changed: "nothing is changed"
      }.freeze

      LIMITS = {"threads" => "its threads", "gvl" => "the GVL", "cores" => "the cores",
                "clients" => "the number of connections", "none" => "nothing at this rate"}.freeze
      WHO = {"today" => "Today", "advised" => "Advised"}.freeze

      # How memory that was not recorded was held against a limit.
      SUPPOSED = {
        nil => nil, "nothing_shared" => ", with processes that were not recorded taken to share nothing",
        "no_more_workers" => ", as no more workers than today's: what they take is unknown"
      }.freeze
    end
  end
end
