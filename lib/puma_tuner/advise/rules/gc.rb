# frozen_string_literal: true

module PumaTuner
  module Advise
    module Rules
      # Remarks that much of the CPU time goes into collecting garbage, which also stops every thread of its worker.
      #
      # Evidence: GC timed inside recorded requests, and a forecast without any, which is the most there is to gain.
      # Effect: none, as nobody can forecast how much less of it there would be. Cost: work on the code, or memory.
      # Undo: the lines gone, or the old values of whatever was set.
      #
      # Advised is what is sound with threads: settings of the whole process. What counts GC by the request, or runs it
      # between two, is not: Puma's out_of_band waits until all threads of a worker are idle, which a busy one never is,
      # and its memory grows meanwhile. Process.warmup compacts what the app has loaded and makes it old, before workers
      # are forked from it; where each of them loads the app by itself, there is nothing yet.
      class Gc < Rule
        PRIORITY = 40

        # Without any GC at all, throughput bound by CPU would rise by a ninth. Below that there is little to win.
        LEAST_GC_RATIO = 0.1

        WARMUP_RUBY_VERSION = Gem::Version.new("3.3")

        # Collections of only the young objects, until out_of_band comes to it (GC.config).
        YOUNG_ONLY_RUBY_VERSION = Gem::Version.new("3.4")

        # Busy for no more of its time, a worker has idle moments under twice the load, too. A judgement.
        MOST_BUSY_RATIO = 0.5

        def call
          gc_ratio = timed_gc_ratio
          return [] if gc_ratio.nil? || gc_ratio < LEAST_GC_RATIO || nothing_to_gain?
          [remark(title: say(:gc_share, ratio: gc_ratio), evidence: evidence(gc_ratio), lines:,
            change: say(:profile_allocations, warmup: lines.any?, one_thread: out_of_band?),
            cost: say(:work_or_gc_settings), undo: lines.any? ? say(:warmup_gone) : say(:gc_variables))]
        end

        private

        # Of no collections at all, which no setting brings about.
        def without_any = (@situation.effect(what_if: ["gc=0"]) if timed_endpoints.size == workload.endpoints.size)

        def lines
          return {} unless @situation.cluster? && @situation.ruby_version >= WARMUP_RUBY_VERSION
          return {} if @situation.setting(:puma, "preload_app") == "false"
          return {PUMA_RB => "before_fork { Process.warmup }"} unless out_of_band?
          {PUMA_RB => <<~RUBY.chomp}
            before_fork { Process.warmup }
            #{@situation.boot_hook} { GC.config(rgengc_allow_full_mark: false) }
            out_of_band { GC.start if GC.latest_gc_info(:need_major_by) }
          RUBY
        end

        # Where something else is the limit, as a lock.
        def nothing_to_gain?
          without_any && without_any.gain < 1 + Choice::EQUAL_WITHIN_RATIO &&
            without_any.p99_ratio.value > 1 - Choice::EQUAL_P99_WITHIN_RATIO
        end

        # A worker is idle when its only thread is, and no request waits for it.
        def out_of_band?
          @situation.topology.threads_count == 1 && @situation.ruby_version >= YOUNG_ONLY_RUBY_VERSION &&
            @situation.today.steady? && busy_ratio <= MOST_BUSY_RATIO
        end

        # Of the time of a thread, by Little's law.
        def busy_ratio
          busy_ns = @situation.today.throughput_per_s.value * workload.mean_ns
          busy_ns / (@situation.topology.slots_count * Units::NS_PER_S)
        end

        # Of the GC that was timed; an endpoint without timing would only dilute it.
        def timed_gc_ratio
          timed = timed_endpoints
          held_ns = timed.sum { |endpoint| endpoint.weight_ratio * endpoint.mean_held_ns }
          timed.sum { |endpoint| endpoint.weight_ratio * endpoint.mean_gc_ns } / held_ns if held_ns.positive?
        end

        def timed_endpoints = workload.endpoints.select(&:mean_gc_ns)

        def evidence(gc_ratio)
          heaviest = timed_endpoints.max_by { |endpoint| endpoint.weight_ratio * endpoint.mean_gc_ns }
          [say(:gc_of_cpu, ratio: gc_ratio),
            say(:most_gc, endpoint: heaviest.name, gc_ns: heaviest.mean_gc_ns, cpu_ns: heaviest.mean_held_ns,
              requests_count: heaviest.demands.size),
            *(say(:most_without_gc, **without_any.ratios) if without_any)].freeze
        end
      end
    end
  end
end
