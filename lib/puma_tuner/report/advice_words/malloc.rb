# frozen_string_literal: true

module PumaTuner
  module Report
    module AdviceWords
      # What Advise::Rules::Malloc says.
      MALLOC = {
        arenas: "Memory is what limits the workers, and the C library's allocator keeps much of it",
        near_limit: ->(used_bytes:, limit_bytes:, threads_count:) {
          "The processes take #{Units.mebibytes(used_bytes)} of #{Units.mebibytes(limit_bytes)}; with " \
            "#{Units.counted(threads_count, "thread")} each has several arenas."
        },
        fewer_arenas: "two arenas, or jemalloc (`LD_PRELOAD=libjemalloc.so.2`): `puma_tuner tradeoff malloc` " \
          "measures both with your app",
        waits_for_arenas: "threads wait for the same arenas; with jemalloc, a library to install",
        arenas_back: "unset MALLOC_ARENA_MAX"
      }.freeze
    end
  end
end
