# frozen_string_literal: true

module PumaTuner
  module Advise
    module Rules
      # More workers than the control group's quota pays for: they use up the quota early in each period, and all of
      # them stand still until the next. `WEB_CONCURRENCY=auto` counts cores, and does not see every quota.
      #
      # Evidence: the quota where the server runs, its workers, the variable. Threshold: more workers than the quota's
      # cores, rounded up (with threads, a core for each worker is Puma's own advice, in its page on deployment), of
      # which fewer are not forecast to be worse, as they are where all wait, or to have no steady state; where nothing
      # is forecast, twice as many, a judgement. Effect: forecast with the fewest that are as good. Cost: fewer requests
      # under way. Undo: the old value.
      class CpuQuota < Rule
        PRIORITY = 78

        UNFORECAST_RATIO = 2

        def call
          quota_cores = @situation.machine&.cpu_quota_cores or return []
          count, effect = fewest(quota_cores.ceil)
          return [] unless count
          [advice(title: say(:beyond_quota, workers_count:, quota_cores:), evidence: evidence(quota_cores), effect:,
            change: say(:workers_of_quota, workers_count: count), cost: say(:fewer_slots),
            **lines(@situation.topology.with(workers_count: count).puma_workers),
            undo: say(:workers_back, workers_count:))]
        end

        private

        # @param paid_count [Integer] workers that the quota pays for
        # @return [Array(Integer, Situation::Effect), nil] how many are enough, and what that brings, where it is known
        def fewest(paid_count)
          (paid_count...workers_count).each do |count|
            topology = @situation.topology.with(workers_count: count)
            forecast = @situation.alternative(topology:)
            return ([paid_count] if workers_count >= UNFORECAST_RATIO * paid_count) unless forecast
            effect = @situation.effect(topology:)
            return [count, effect] if forecast.steady? && !effect&.worse?
          end
          nil
        end

        def auto? = @situation.setting(:env, "WEB_CONCURRENCY") == "auto"

        # @param count [Integer] as Puma counts them: none is the single process that one worker was forecast as
        def lines(count)
          {lines: auto? ? {ENVIRONMENT => "WEB_CONCURRENCY=#{count}"} : {PUMA_RB => "workers #{count}"},
           factors: {"workers" => count.to_s}}
        end

        def evidence(quota_cores)
          [say(:quota_of_group, quota_cores:, cores_count: @situation.machine.cores_count, workers_count:),
            *(say(:counted_by_auto) if auto?)]
        end
      end
    end
  end
end
