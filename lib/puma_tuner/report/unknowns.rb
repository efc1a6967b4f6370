# frozen_string_literal: true

module PumaTuner
  module Report
    # What is not known, and why, in words. Of each field and cause this is the only place that has them.
    module Unknowns
      # Where the field's own name won't do; %s: whose it is.
      NAMES = {
        names: "endpoints, jobs",
        parts: "all of the budget but wall time, queue and perhaps cpu; threads, background, traces, blame",
        cpu_ns: "processes.cpu_ns of the %s", companion: "a recording at %s", endpoint: "endpoint %s",
        mean_gc_ns: "mean_gc_ns of endpoint %s", metric: "%s", other: "%s", single_bytes: "memory.single_bytes",
        per_worker_bytes: "memory.per_worker_bytes", shared_bytes: "memory.shared_bytes",
        exact_figures: "exact figures of a request", per_request: "per request", machine: "", gvl_rule: ""
      }.freeze

      # By cause; with the cause's facts where it has some.
      REASONS = {
        told: ->(detail:) { detail },
        # Of a recording.
        sampled: ->(most_count:) { "a uniform sample: at most #{most_count} per endpoint and process" },
        not_watched: "they were not watched, which --locks asks for",
        no_extension: ->(detail:) { detail },
        serves_nothing: "it serves no request",
        no_time: "no time was left for it",
        few_requests: ->(requests_count:) { "only #{Units.counted(requests_count, "request")} came" },
        failed: ->(detail:) { detail },
        # Of a proof.
        not_begun: "the proof has not come to its first round",
        interrupted: "it was interrupted before its first round",
        # Of a model.
        unaccounted: ->(ratio:) {
          "for #{Units.percent(ratio)} of the requests the breakdown is off from the wall time by more than 1%: " \
            "whatever is computed from it is as uncertain"
        },
        no_trace: ->(requests_count:) {
          "none of its #{requests_count} requests was recorded step by step; it is " \
            "left out"
        },
        gc_not_timed: "the garbage collector was not timed",
        no_cpu_time: ->(assumed_ns:) {
          "CPU time of the processes or of the requests is unknown; " \
            "#{Units.duration(assumed_ns)} is assumed, the measured cost of an empty app on Puma 8"
        },
        no_thread_cpu_time: "CPU time of the pool threads or of the requests is unknown; the machine's figure is taken",
        waits_not_watched: ->(ratio:) {
          "#{Units.percent(ratio)} of a request's time was spent waiting for locks that nobody watched; these waits " \
            "are taken to be as long at any other setting, which they hardly are. " \
            "Record it with locks watched (`puma_tuner measure --load`, or --locks)."
        },
        load_not_ours: "the load was not ours; as many requests as were served, arriving by chance (Poisson), stand " \
          "for it",
        no_client: "latency is the client's to see, and the load was not ours",
        no_rss: "RSS could not be read, so what the workers share counts as each one's own",
        no_process: ->(role:) { "there was no #{role} process" },
        no_pss: ->(role:) { "PSS could not be read of the #{role} process" },
        # Of forecasts.
        not_calibrated: "not calibrated: the machine's part is typical figures; run `puma_tuner calibrate` on that " \
          "machine",
        other_versions: ->(**versions) {
          differing = versions.map { |name, (with, of)| "#{name.capitalize} #{with}, forecast for #{of}" }
          "calibrated with #{differing.join("; ")}: what that costs is taken to be the " \
            "same#{" (`puma_tuner calibrate --ruby` measures another Ruby)" if versions.key?(:ruby)}"
        },
        patched_ruby: ->(ruby_version:, by_version:, seen:) {
          "#{(seen == "hot") ? "this Ruby has the hot-thread patch (ruby/ruby#15840)" : "this Ruby is patched"}: " \
            "Ruby #{ruby_version} hands over the GVL by the rule " \
            "\"#{by_version}\", and this build was seen to do it by \"#{seen}\", which is simulated"
        },
        # Of a load.
        open_loop: "an open loop counts from its first request",
        closed_loop: "a closed loop intends no instants",
        never_settled: "it was stopped before each connection had a response",
        # Of a profile.
        nobody_counted: "nobody counted the requests that came by themselves",
        not_in_file: "a profiler's own file does not say how many requests it is about",
        under_way: ->(requests_count:) {
          "#{requests_count} more were under way when the windows ended, and what was done of them is in the sums; " \
            "give it longer, or fewer --connections"
        },
        one_not_counted: "at least one of both does not know how many requests it is about; amounts are shares of " \
          "its whole",
        # Of a fleet.
        no_sample: "no sample of it in one of the groups, in some span",
        few_blocks: ->(blocks_count:, needed_count:) {
          "#{Units.counted(blocks_count, "block")} of time are too few, #{needed_count} are needed; " \
            "a longer --window has them"
        },
        added_up_by_rules: "rules have added up the servers; --source raw tells"
      }.freeze

      # What found no place.
      NO_PLACE = {
        threads: "%{missed_count} threads found no place among the %{most_count} that are observed",
        names: "%{missed_count} names found no place in a process's ledger, or no memory for one; what they name " \
          "counts as #{Probe::Endpoint::OTHER}",
        locks: "%{missed_count} times a lock was held that found no place among a process's %{most_count}; in traces " \
          "it is a wait like others"
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
