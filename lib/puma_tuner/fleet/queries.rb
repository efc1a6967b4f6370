# frozen_string_literal: true

module PumaTuner
  module Fleet
    # PromQL for what a group is asked: from the rules that we ship
    # (ops/prometheus/rules.yml), which have added up servers and workers already, or
    # from the exporter's own metrics, which takes the longer the more servers there are.
    #
    # Every expression gives the figure of one span: what was counted in it, or a mean over it.
    class Queries
      # The servers of a group, by what they say of themselves; of it all else is judged.
      INFO = {raw: "puma_tuner_exporter_info", rules: "fleet:puma_tuner_servers:count"}.freeze

      # That every server tells of, with the labels that all its figures have: what may be asked for.
      COMMON = {raw: "puma_tuner_request_duration_seconds_count",
                rules: "fleet:puma_tuner_request_duration_seconds_bucket:rate5m"}.freeze

      # source: name => [exporter's metric, rule's metric, labels that are kept]; counters
      COUNTERS = {
        duration: ["puma_tuner_request_duration_seconds_bucket",
          "fleet:puma_tuner_request_duration_seconds_bucket:rate5m", %w[le]],
        endpoint_duration: ["puma_tuner_endpoint_request_duration_seconds_bucket",
          "fleet:puma_tuner_endpoint_request_duration_seconds_bucket:rate5m", %w[endpoint le]],
        time: ["puma_tuner_request_time_seconds_total", "fleet:puma_tuner_request_time_seconds:rate5m", %w[part]],
        cpu: ["puma_tuner_process_cpu_seconds_total", "fleet:puma_tuner_process_cpu_seconds:rate5m", []]
      }.freeze

      # name => [how samples are joined, exporter's metric, rule's metric, how several of the rule's series are joined,
      # more matchers of the exporter's]
      LEVELS = {
        memory: ["sum", "puma_tuner_process_pss_bytes", "fleet:puma_tuner_process_pss_bytes:sum", "sum"],
        worker_memory: ["sum", "puma_tuner_process_pss_bytes", "fleet:puma_tuner_worker_pss_bytes:sum", "sum",
          ["worker", "!=", "master"]],
        code: ["sum", "puma_tuner_yjit_code_region_bytes", "fleet:puma_tuner_yjit_code_region_bytes:sum", "sum"],
        yjit_limited: ["max", "puma_tuner_yjit_limited_bytes", "fleet:puma_tuner_yjit_limited_bytes:max", "max"],
        yjit_limit: ["min", "puma_tuner_yjit_limit_bytes", "fleet:puma_tuner_yjit_limit_bytes:min", "min"],
        yjit_workers: ["count", "puma_tuner_yjit_code_region_bytes", "fleet:puma_tuner_yjit_workers:count", "sum"],
        workers: ["count", "puma_tuner_worker_threads", "fleet:puma_tuner_workers:count", "sum"],
        threads: ["sum", "puma_tuner_worker_threads", "fleet:puma_tuner_worker_threads:sum", "sum"],
        servers: ["count", "puma_tuner_exporter_info", "fleet:puma_tuner_servers:count", "sum"]
      }.freeze

      # Each span is sampled so often at most.
      SUBQUERY_STEPS = 12
      LEAST_SUBQUERY_STEP_S = 15

      # @return [Symbol] :rules or :raw
      attr_reader :source

      # @param source [Symbol]
      # @param selector [Selector]
      # @param step_s [Integer]
      def initialize(source, selector, step_s)
        @source = source
        @selector = selector
        @step_s = step_s
      end

      # @param by [Array<String>] labels kept beside the figure's own
      # @return [String] counted in a span
      def counter(name, by: [])
        raw, rule, own = COUNTERS.fetch(name)
        labels = " by (#{[*own, *by].join(", ")})"
        if @source == :rules
          # The sum of rates, and not their mean: that is of the steps alone at which a series is there, and an endpoint
          # that was first asked for late in a span would count as if it had been asked for all along.
          return "sum_over_time(#{within_span("sum#{labels} (#{@selector.of(rule)})")}) * #{subquery_step_s}"
        end
        "sum#{labels} (increase(#{@selector.of(raw)}[#{@step_s}s]))"
      end

      # @return [String] the mean over a span
      def level(name, by: [])
        join, raw, rule, join_again, *more = LEVELS.fetch(name)
        labels = " by (#{by.join(", ")})" if by.any?
        return mean_of("#{join_again}#{labels} (#{@selector.of(rule)})") if @source == :rules
        mean_of("#{join}#{labels} (#{@selector.with_more(*more).of(raw)})")
      end

      # @return [String] at how many steps of a span any server was there: a rollout ends all series of a group and
      #   begins others, so that none of them lasts for the whole span
      def coverage = "count_over_time(#{within_span("count (#{@selector.of(INFO.fetch(@source))})")})"

      # @return [String] how many samples a span has of the exporter's series with most: what an increase is told by
      def samples = "max(count_over_time(#{@selector.of(INFO.fetch(:raw))}[#{@step_s}s]))"

      # @return [String] servers that began anew in a span, by their counters' resets
      def resets = "sum(resets(#{@selector.of("puma_tuner_request_duration_seconds_count")}[#{@step_s}s]))"

      private

      # First joined, then averaged: a series that was there for half of the
      # span only is to count half, and its own mean would not tell.
      def mean_of(expression) = "avg_over_time(#{within_span(expression)})"

      # A span has the step at its end and not that at its beginning, which Prometheus 2 would count in as well, and
      # Prometheus 3 would not.
      def within_span(expression) = "(#{expression})[#{@step_s * 1_000 - 1}ms:#{subquery_step_s}s]"

      # A divisor of the span, so that each of them has as many steps: Prometheus places these by the clock.
      def subquery_step_s
        count = SUBQUERY_STEPS.downto(1).find do |steps_count|
          (@step_s % steps_count).zero? && @step_s / steps_count >= LEAST_SUBQUERY_STEP_S
        end
        @step_s / (count || 1)
      end
    end
  end
end
