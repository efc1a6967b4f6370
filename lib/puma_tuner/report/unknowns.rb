# frozen_string_literal: true

module PumaTuner
  module Report
    # What is not known, and why, in words. Of each field and cause this is the only place that has them.
    module Unknowns
      # Where the field's own name won't do; %s: whose it is.
      NAMES = {
        names: "endpoints, jobs",
        told_by_kernel: "the machine's memory, processor, load and limits; memory of processes; waits of threads " \
          "for a core; how much of the machine others took",
        parts: "all of the budget but wall time, queue and perhaps cpu; threads, background, traces, blame",
        cpu_ns: "processes.cpu_ns of the %s", companion: "a recording at %s", endpoint: "endpoint %s",
        part_load: "the recording at part load",
        mean_gc_ns: "mean_gc_ns of endpoint %s", metric: "%s", other: "%s", single_bytes: "memory.single_bytes",
        per_worker_bytes: "memory.per_worker_bytes", shared_bytes: "memory.shared_bytes",
        exact_figures: "exact figures of a request", per_request: "per request", machine: "", gvl_rule: "",
        meeting_ratio: ""
      }.freeze

      # By cause; with the cause's facts where it has some.
      REASONS = {
        told: ->(detail:) { detail },
        # Of a recording.
        sampled: ->(most_count:) { "a uniform sample: at most #{most_count} per endpoint and process" },
        cut: ->(cut_count:, traces_count:, most_count:) {
          "#{cut_count} of #{Units.counted(traces_count, "trace")} have more than #{most_count}: what a request did " \
            "afterwards is added to the last ones of its kind, so that sums are true and the order is not"
        },
        not_watched: "they were not recorded; add --locks",
        no_extension: ->(detail:) { detail },
        no_proc: "this system has no /proc, in which Linux tells that",
        serves_nothing: "it serves no request",
        no_time: "no time was left for it",
        few_requests: ->(requests_count:) { "only #{Units.counted(requests_count, "request")} came in" },
        few_expected: ->(requests_count:) {
          "only #{Units.counted(requests_count, "request")} would have come in; a longer --duration lets more come"
        },
        failed: ->(detail:) { detail },
        # Of a proof.
        no_time_for_proof: ->(left_s:, wanted_s:) {
          "recording and predicting left #{left_s.floor} s of --time for it, and all its rounds take about " \
            "#{wanted_s.ceil} s; give it more, or fewer --rounds"
        },
        not_begun: "the proof did not reach its first round",
        other_machine: "the advice is for a machine with other cores than this one; run it there for a proof",
        interrupted: "it was interrupted before its first round",
        # Of a model.
        development: "recorded in development, where frameworks reload code and log more; for figures of production " \
          "set RAILS_ENV=production (without Rails RACK_ENV)",
        unaccounted: ->(ratio:) {
          "for #{Units.percent(ratio)} of the requests the breakdown is off from the wall time by more than 1%: " \
            "whatever is computed from it is as uncertain"
        },
        no_trace: ->(requests_count:) {
          "none of its #{requests_count} requests was recorded step by step; it is left out"
        },
        gc_not_timed: "the garbage collector was not timed",
        no_cpu_time: ->(assumed_ns:) {
          "CPU time of the processes or of the requests is unknown; #{Units.duration(assumed_ns)} is assumed, the " \
            "measured cost of an empty app on Puma 8"
        },
        no_thread_cpu_time: "CPU time of the pool threads or of the requests is unknown; the machine's figure is taken",
        waits_not_watched: ->(ratio:) {
          "#{Units.percent(ratio)} of a request's time was spent waiting for locks that were not recorded; these " \
          "waits are assumed to stay as long at other settings, which is unlikely. Record again with locks " \
          "(`puma_tuner measure --load`, or --locks)."
        },
        saturated: "the load did not come from puma_tuner, and requests spent most of their time in Puma's queue, or " \
          "kept all threads or cores busy; as many clients as requests were under way are assumed, each waiting for " \
          "its response",
        load_not_ours: "the load did not come from puma_tuner; random (Poisson) arrivals at the served rate are " \
          "assumed",
        no_client: "only clients see the latency, and the load did not come from puma_tuner",
        no_rss: "RSS could not be read, so memory that workers share is counted for each",
        no_process: ->(role:) { "there was no #{role} process" },
        no_pss: ->(role:) { "PSS could not be read of the #{role} process" },
        # Of forecasts.
        not_calibrated: "not calibrated: typical figures stand for the machine; run `puma_tuner calibrate` on that " \
          "machine",
        other_versions: ->(**versions) {
          differing = versions.map { |name, (with, of)| "#{name.capitalize} #{with}, forecast for #{of}" }
          "calibrated with #{differing.join("; ")}: the same costs are " \
          "assumed#{" (`puma_tuner calibrate --ruby` measures another Ruby)" if versions.key?(:ruby)}"
        },
        meetings_not_measured: ->(assumed_ratio:) {
          "calibrated before it was measured how often threads of two workers share a core: " \
            "#{Units.percent(assumed_ratio)} is assumed; run `puma_tuner calibrate` on that machine"
        },
        patched_ruby: ->(ruby_version:, by_version:, seen:) {
          "#{(seen == "hot") ? "this Ruby has the hot-thread patch (ruby/ruby#15840)" : "this Ruby is patched"}: " \
            "Ruby #{ruby_version} hands over the GVL by the rule " \
            "\"#{by_version}\", and this build was seen to do it by \"#{seen}\", which is simulated"
        },
        # Of a load.
        open_loop: "an open loop counts from its first request",
        closed_loop: "a closed loop has no intended times",
        never_settled: "it was stopped before each connection had a response",
        # Of a profile.
        nobody_counted: "requests that puma_tuner did not send were not counted",
        not_in_file: "a profiler's own file does not say how many requests it covers",
        under_way: ->(requests_count:) {
          "#{requests_count} more were in flight when the windows ended, and their work so far is in the sums; use a " \
          "longer --duration, or fewer --connections"
        },
        one_not_counted: "at least one of the two does not say how many requests it covers, so amounts are shares of " \
          "its total",
        # Of a fleet.
        no_sample: "no sample of it in one of the groups, in some span",
        few_blocks: ->(blocks_count:, needed_count:) {
          "#{Units.counted(blocks_count, "block")} of time are too few, #{needed_count} are needed; use a longer " \
            "--window"
        },
        added_up_by_rules: "the recording rules have summed the servers; use --source raw"
      }.freeze

      # What found no place.
      NO_PLACE = {
        threads: "%{missed_count} threads are missing: at most %{most_count} are recorded",
        names: "%{missed_count} names are missing, for want of room in a process's ledger or of memory; their " \
          "figures count as #{Probe::Endpoint::OTHER}",
        locks: "%{missed_count} times a lock was held that is none of the %{most_count} recorded per process; in " \
          "traces it is a wait like others"
      }.freeze

      class << self
        # @param unknowns [Array<Unknown>, nil]
        # @return [Hash{String => String}] what, and why
        def of(unknowns) = unknowns.to_a.to_h { |unknown| [name(unknown), reason(unknown)] }

        # @param unknown [Unknown]
        # @return [String]
        def reason(unknown)
          facts = unknown.facts.transform_keys(&:to_sym)
          return format(NO_PLACE.fetch(unknown.field), **facts) if unknown.cause == :no_place
          words = REASONS.fetch(unknown.cause) { unknown.cause.to_s.tr("_", " ") }
          words.is_a?(Proc) ? words.call(**facts) : words
        end

        private

        def name(unknown) = NAMES.fetch(unknown.field, unknown.field.to_s).sub("%s") { unknown.whose }
      end
    end
  end
end
