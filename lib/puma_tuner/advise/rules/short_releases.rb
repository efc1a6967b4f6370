# frozen_string_literal: true

module PumaTuner
  module Advise
    module Rules
      # Many tiny releases of the GVL: system calls that come back at once (small files, a log's lines), each of which
      # hands the GVL to another thread, whose turn a request then waits out.
      #
      # Evidence: waits shorter than 50 µs in recorded requests, by kind. Threshold: ten of them in a mean request, a
      # judgement. Two cures, each an advice of its own where its own forecast is a sure gain. Of the calls saved: of
      # the kind whose loss brings the most; cost: work on the code, or a cache; undo: the calls as before. Of fewer
      # threads: of the number that brings the most; cost: fewer requests under way; undo: today's threads.
      class ShortReleases < Rule
        PRIORITY = 70

        LEAST_COUNT = 10

        def call
          return [] if threads_count == 1 || count < LEAST_COUNT
          [saved_calls, fewer_threads].compact
        end

        private

        def count = counts.values.sum

        def releases = counts.select { |_, one| one >= 1 }.map { |part, one| say(:releases_of_kind, part:, count: one) }

        # @return [Advice, nil]
        def saved_calls
          kind, effect = saved.select { |_, one| one.gain? || one.shorter_tail? }.max_by { |_, one| one.gain }
          return unless effect
          advice(title: say(:tiny_releases, count:), effect:, change: say(:save_calls, part: kind),
            cost: say(:work_or_cache, part: kind), undo: say(:calls_as_before, part: kind),
            evidence: [*releases, *saved.map { |part, one| say(:calls_saved, part:, **one.ratios) }])
        end

        # @return [Advice, nil] none where clients are too few for today's threads, see Choice#too_few_clients?
        def fewer_threads
          return if @situation.today.too_few_clients?
          best, effect = of_threads.select { |_, one| one.gain? }.max_by { |_, one| one.gain }
          return unless effect
          told = of_threads.map { |some, one| say(:with_fewer_threads, threads_count: some, **one.ratios) }
          advice(title: say(:threads_for_releases, count:), evidence: [*releases, *told], effect:,
            change: say(:fewer_threads, threads_count: best), lines: {PUMA_RB => "threads #{best}, #{best}"},
            factors: {"threads" => best.to_s}, cost: say(:fewer_under_way), undo: say(:threads_back, threads_count:))
        end

        # @return [Hash{String => Float}] short waits of a mean request, by kind as a what-if names it
        def counts
          @counts ||= workload.endpoints.each_with_object(Hash.new(0.0)) do |endpoint, sums|
            endpoint.demands.each do |demand|
              demand.short_io_kinds.each do |kind|
                sums[(kind == "io") ? "other" : kind] += endpoint.weight_ratio / endpoint.demands.size
              end
            end
          end
        end

        # @return [Hash{String => Situation::Effect}] of saving them, by kind
        def saved
          @saved ||= effects(counts.select { |_, count| count >= LEAST_COUNT }.keys) do |kind|
            {what_if: ["without releases #{kind}"]}
          end
        end

        # @return [Hash{Integer => Situation::Effect}] of fewer threads, as many workers
        def of_threads
          fewer = [1, 2, threads_count / 2].uniq.select { |count| count.between?(1, threads_count - 1) }
          @of_threads ||= effects(fewer) { |count| {topology: @situation.topology.with(threads_count: count)} }
        end

        def effects(keys) = keys.to_h { |key| [key, @situation.effect(**yield(key))] }.compact
      end
    end
  end
end
