# frozen_string_literal: true

module PumaTuner
  module Advise
    module Rules
      # Many tiny releases of the GVL: system calls that come back at once (small files, a log's lines), each of which
      # hands the GVL to another thread, whose turn a request then waits out.
      #
      # Evidence: waits shorter than 50 µs in recorded requests, by kind. Threshold: ten of them in a mean request, a
      # judgement; and one of the cures is a sure gain by its forecast. Effect: of the best cure that needs no other
      # setting: the calls saved (buffered logging, a cache). Fewer threads are told beside it. Cost: work on the code.
      # Undo: the code as it was.
      class ShortReleases < Rule
        PRIORITY = 70

        LEAST_COUNT = 10

        def call
          return [] if threads_count == 1 || counts.values.sum < LEAST_COUNT
          best = saved.max_by { |_, effect| effect.throughput_ratio.value }
          return [] unless [best&.last, *fewer_threads.values].compact.any? { |effect| better?(effect) }
          [advice(title: say(:tiny_releases, count: counts.values.sum), effect: best&.last, evidence:,
            change: say(:save_calls, kind: best&.first, fewer: best_threads), lines:, factors:,
            cost: say(:work_or_cache), undo: say(:calls_as_before))]
        end

        private

        def threads_count = @situation.topology.threads_count

        def better?(effect) = effect.gain? || effect.shorter_tail?

        # @return [Hash{String => Float}] short waits of a mean request, by kind
        def counts
          @counts ||= workload.endpoints.each_with_object(Hash.new(0.0)) do |endpoint, sums|
            endpoint.demands.each do |demand|
              demand.short_io_kinds.each { |kind| sums[kind] += endpoint.weight_ratio / endpoint.demands.size }
            end
          end
        end

        # @return [Hash{String => Situation::Effect}] of saving them, by kind as a what-if names it
        def saved
          @saved ||= counts.select { |_, count| count >= LEAST_COUNT }.keys.filter_map { |kind|
            name = (kind == "io") ? "other" : kind
            effect = @situation.effect(what_if: ["without releases #{name}"])
            [name, effect] if effect
          }.to_h
        end

        # @return [Hash{Integer => Situation::Effect}] of fewer threads, as many workers
        def fewer_threads
          @fewer_threads ||= [1, 2, threads_count / 2].uniq.select { |count| count.between?(1, threads_count - 1) }
            .filter_map { |count|
              effect = @situation.effect(topology: @situation.topology.with(threads_count: count))
              [count, effect] if effect
            }.to_h
        end

        def best_threads
          count, effect = fewer_threads.max_by { |_, one| one.throughput_ratio.value }
          count if effect && better?(effect)
        end

        def lines = best_threads ? {PUMA_RB => "threads #{best_threads}, #{best_threads}"} : {}

        def factors = best_threads ? {"threads" => best_threads.to_s} : {}

        def evidence
          [*counts.select { |_, count| count >= 1 }.map { |kind, count| say(:releases_of_kind, part: kind, count:) },
            *saved.map { |kind, effect| say(:calls_saved, part: kind, **effect.ratios) },
            *fewer_threads.map { |threads_count, effect| say(:with_fewer_threads, threads_count:, **effect.ratios) }]
        end
      end
    end
  end
end
