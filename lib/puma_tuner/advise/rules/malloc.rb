# frozen_string_literal: true

module PumaTuner
  module Advise
    module Rules
      # The C library's allocator keeps an arena for each few threads and returns little of them: memory that workers
      # could have. Said only where memory is what limits them.
      #
      # Evidence: the allocator that the processes have (those of musl and macOS have no such arenas), the limit, what
      # they take. Threshold: two thirds of the limit, a judgement: beyond it another worker hardly fits. Source:
      # jemalloc took 25% less after ten months (gist jjb/81866452); it depends on the app. Effect: none, measure it.
      # Cost: some CPU. Undo: the variable gone.
      class Malloc < Rule
        PRIORITY = 25

        LEAST_LIMIT_RATIO = 2.fdiv(3)

        WITHOUT_ARENAS = /musl|darwin/

        def call
          limit_bytes = @constraints.max_memory_bytes or return []
          return [] unless @situation.setting(:allocator) == "the C library's" && @situation.topology.threads_count > 1
          return [] if @situation.setting(:env, "MALLOC_ARENA_MAX") || @situation.setting(:ruby)&.match?(WITHOUT_ARENAS)
          used_bytes = observation.processes.sum { |process| process.pss_bytes.to_i }
          return [] if used_bytes < LEAST_LIMIT_RATIO * limit_bytes
          [remark(title: say(:arenas), evidence: [say(:near_limit, used_bytes:, limit_bytes:,
            threads_count: @situation.topology.threads_count)], change: say(:fewer_arenas),
            lines: {ENVIRONMENT => "MALLOC_ARENA_MAX=2"}, factors: {"env.MALLOC_ARENA_MAX" => "2"},
            cost: say(:waits_for_arenas), undo: say(:arenas_back))]
        end
      end
    end
  end
end
