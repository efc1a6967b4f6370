# frozen_string_literal: true

module PumaTuner
  module Fleet
    # Reads all services, and what each could do without.
    #
    # An estimate from means by the rule of thumb, to know where to look first; what a change really brings is for
    # `tune` and `prove` on that service.
    class ServiceReader
      # The busiest span may use this share of the cores that a service's workers can use, one each for the GVL. At 60%
      # a request in an M/M/c queue of some ten servers waits for less than a tenth of its own time (Erlang's C
      # formula); the rest is for what an hour's mean hides.
      UTILISATION_RATIO = 0.6

      # One worker is no service: it can't be restarted.
      WORKERS_MIN = 2

      # Nobody would notice less than these shares.
      GVL_WAIT_RATIO = 0.05
      QUEUE_RATIO = 0.1

      # Of a service whose shares of time, and what rests on them, are left out.
      INCOMPLETE = "Some of its servers run without the extension, so where its requests' time goes, and what they " \
        "need, is unknown."

      # The parts that a request would have, had nobody been in its way.
      UNDISTURBED = Probe::Parts::DEMANDED.map(&:name).freeze

      # @param by [String] the label that names services
      def initialize(prometheus, source:, selector:, window:, by:)
        @prometheus = prometheus
        @window = window
        @by = by
        @info = selector.with_more(["complete", "=", "false"]).of(Queries::INFO.fetch(source))
        @queries = Queries.new(source, selector, window.step_s)
        @counts = Queries.new(source, selector.with_more(["le", "=", "+Inf"]), window.step_s)
      end

      # @return [Array<Service>] that with most to save first
      def call
        requests = by_service(@counts.counter(:duration, by: [@by]))
        left_out = incomplete
        parts = ask(@queries.counter(:time, by: [@by])).group_by { |series| name_of(series) }.except(*left_out)
        levels = %i[workers threads servers worker_memory memory yjit_limited yjit_limit].to_h do |name|
          [name, by_service(@queries.level(name, by: [@by]))]
        end
        services = requests.map do |name, values|
          found = service(name, values, sums(parts.fetch(name, [])), levels.transform_values { |all| mean(all[name]) },
            nearest(levels, name))
          left_out.include?(name) ? found.with(advice: [INCOMPLETE, *found.advice].freeze) : found
        end
        services.sort_by do |service|
          [-(service.saved_bytes || 0), -service.parts.fetch("gvl_wait", 0.0), service.name]
        end
      end

      private

      def ask(query) = @prometheus.range(query, @window)

      def by_service(query) = ask(query).to_h { |series| [name_of(series), series.values] }

      def name_of(series) = series.labels.fetch(@by, "")

      # Servers without the extension tell of queue and CPU time alone: shares of the two are no shares of requests, and
      # beside other servers' parts their requests would count as ones that took no time for anything else.
      #
      # @return [Array<String>] services with any such server
      def incomplete
        query = "count by (#{@by}) (last_over_time(#{@info}[#{@window.duration_s}s]))"
        @prometheus.instant(query, @window.ends_s).map { |series| name_of(series) }
      end

      def sums(list) = list.to_h { |series| [series.label("part"), series.values.values.sum] }

      def mean(values) = values && values.values.sum / values.size

      def nearest(levels, name)
        code, limit = levels[:yjit_limited][name], levels[:yjit_limit][name]
        code.filter_map { |time_s, bytes| bytes / limit[time_s] if limit[time_s]&.positive? }.max if code && limit
      end

      def service(name, requests, parts_s, levels, code_limit_ratio)
        count = requests.values.sum
        known = demand(parts_s, count, requests.values.max / @window.step_s)
        needed = needed(known, levels)
        if needed && levels[:worker_memory]
          saved = levels[:worker_memory] / levels[:workers] * [levels[:workers] - needed, 0].max
        end
        all = {
          name:, mean_per_s: count / (requests.size * @window.step_s), peak_per_s: known[:peak_per_s],
          servers_count: levels[:servers], workers_count: levels[:workers],
          threads_per_worker: (levels[:threads] / levels[:workers] if levels[:threads] && levels[:workers]),
          parts: shares(parts_s), rule_threads_count: known[:threads],
          needed_workers_count: needed, memory_bytes: levels[:memory], saved_bytes: saved&.round, code_limit_ratio:
        }
        evidence = all.slice(:threads_per_worker, :rule_threads_count, :workers_count, :needed_workers_count,
          :saved_bytes, :code_limit_ratio, :parts)
        Service.new(**all, advice: advice(**evidence).freeze)
      end

      # cpu_s, undisturbed_s: of a request; threads: by the rule of thumb
      def demand(parts_s, count, peak_per_s)
        known = UNDISTURBED.all? { |part| parts_s.key?(part) } && count.positive?
        return {peak_per_s:} unless known
        cpu_s, undisturbed_s = [%w[cpu gc], UNDISTURBED].map { |parts| parts.sum { |part| parts_s[part] } / count }
        {peak_per_s:, cpu_s:, undisturbed_s:,
         threads: RuleOfThumb.threads_count(undisturbed_s.positive? ? cpu_s / undisturbed_s : nil)}
      end

      def needed(known, levels)
        return unless known[:threads] && levels[:workers]
        cores, slots = known[:cpu_s] * known[:peak_per_s], known[:undisturbed_s] * known[:peak_per_s]
        [cores / UTILISATION_RATIO, slots / known[:threads] / UTILISATION_RATIO, WORKERS_MIN].max.ceil
      end

      def shares(parts_s)
        all = parts_s.values.sum
        all.positive? ? parts_s.transform_values { |seconds| seconds / all } : {}
      end

      def advice(threads_per_worker:, rule_threads_count:, workers_count:, needed_workers_count:, saved_bytes:,
        code_limit_ratio:, parts:)
        gvl_wait, queue = parts.fetch("gvl_wait", 0.0), parts.fetch("queue", 0.0)
        [
          (too_many_threads(threads_per_worker, rule_threads_count, gvl_wait) if rule_threads_count &&
            threads_per_worker && gvl_wait >= GVL_WAIT_RATIO),
          (if saved_bytes&.positive?
             "#{needed_workers_count} of #{workers_count.round} workers would do for the busiest span at " \
              "#{(UTILISATION_RATIO * 100).round}%: #{Units.mebibytes(saved_bytes)} less."
           end),
          (if queue >= QUEUE_RATIO
             "Requests spend #{Units.percent(queue)} of their time in Puma's queue: " \
              "more threads or workers."
           end),
          (if code_limit_ratio && code_limit_ratio >= Probe::YjitLimit::ALARM_RATIO
             "YJIT's memory is at #{Units.percent(code_limit_ratio)} of its limit in a worker: " \
              "it may have stopped compiling."
           end)
        ].compact
      end

      def too_many_threads(threads, rule, gvl_wait)
        return unless threads > rule + 0.5
        "Too many threads: #{threads.round} in a worker where #{rule} are enough; " \
          "requests spend #{Units.percent(gvl_wait)} of their time waiting for the GVL."
      end
    end
  end
end
