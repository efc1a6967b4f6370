# frozen_string_literal: true

module PumaTuner
  module Advise
    module Rules
      # More workers than the control group's quota pays for: they use up the quota early in each period, and all of
      # them stand still until the next. `WEB_CONCURRENCY=auto` counts cores, and does not see every quota.
      #
      # Evidence: the quota where the server runs, its workers, the variable. Threshold: more workers than the quota's
      # cores, rounded up; with threads, one core for each worker is Puma's own advice (its page on deployment). Effect:
      # forecast with as many workers as the quota pays for. Cost: none, or fewer requests under way. Undo: the old
      # value.
      class CpuQuota < Rule
        PRIORITY = 78

        def call
          quota_cores = @situation.machine&.cpu_quota_cores or return []
          return [] if workers_count <= quota_cores.ceil
          advised_count = [quota_cores.ceil, 1].max
          [advice(title: say(:beyond_quota, workers_count:, quota_cores:), evidence: evidence(quota_cores),
            effect: @situation.effect(topology: @situation.topology.with(workers_count: advised_count)),
            change: say(:workers_of_quota, workers_count: advised_count), cost: say(:fewer_slots),
            lines: lines(advised_count), factors: {"workers" => advised_count.to_s},
            undo: say(:workers_back, workers_count:))]
        end

        private

        def workers_count = @situation.topology.workers_count

        def auto? = @situation.setting(:env, "WEB_CONCURRENCY") == "auto"

        def lines(count)
          auto? ? {ENVIRONMENT => "WEB_CONCURRENCY=#{count}"} : {PUMA_RB => "workers #{count}"}
        end

        def evidence(quota_cores)
          [say(:quota_of_group, quota_cores:, cores_count: @situation.machine.cores_count, workers_count:),
            *(say(:counted_by_auto) if auto?)]
        end
      end
    end
  end
end
