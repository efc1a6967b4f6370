# frozen_string_literal: true

module PumaTuner
  module Report
    module AdviceWords
      # What Advise::Rules::YjitMemory says.
      YJIT_MEMORY = {
        yjit_full: ->(ratio:) { "YJIT has used #{Units.percent(ratio)} of its memory, and soon compiles nothing more" },
        yjit_counted: ->(used_bytes:, limit_bytes:, processes_count:) {
          "#{Units.mebibytes(used_bytes)} of #{Units.mebibytes(limit_bytes)} in the fullest of " \
            "#{Units.counted(processes_count, "process", "processes")}."
        },
        yjit_limit: ->(bytes:) { "a limit of #{Units.mebibytes(bytes)}" },
        yjit_bytes_each: ->(bytes:, workers_count:) {
          "up to #{Units.mebibytes(bytes)} more in each of #{Units.counted(workers_count, "worker")}"
        },
        yjit_old_limit: ->(bytes:) { "the limit of #{Units.mebibytes(bytes)}" }
      }.freeze
    end
  end
end
