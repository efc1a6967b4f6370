# frozen_string_literal: true

module PumaTuner
  module Report
    module AdviceWords
      # What Advise::Rules::CpuQuota says.
      CPU_QUOTA = {
        beyond_quota: ->(workers_count:, quota_cores:) {
          "#{workers_count} workers share a quota of #{Units.significant(quota_cores)} cores"
        },
        quota_of_group: ->(quota_cores:, cores_count:, workers_count:) {
          "The control group may use #{Units.significant(quota_cores)} of the machine's " \
            "#{Units.counted(cores_count, "core")}; when #{workers_count} workers have used that up, all stand still " \
            "for the rest of the period."
        },
        counted_by_auto: "WEB_CONCURRENCY is auto, which counted the machine's cores and not this quota.",
        workers_of_quota: ->(workers_count:) {
          (workers_count == 1) ? "a single process (no workers)" : "#{workers_count} workers, set as a number"
        },
        fewer_slots: "fewer requests under way, unless each worker gets more threads",
        workers_back: ->(workers_count:) { "#{workers_count} workers again" }
      }.freeze
    end
  end
end
