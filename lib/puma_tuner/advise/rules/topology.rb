# frozen_string_literal: true

module PumaTuner
  module Advise
    module Rules
      # Recommends workers and threads; also when the recommendation is to leave them as they are.
      #
      # Evidence: a sweep that holds today's topology. While the model is more than 15% off the throughput of a recorded
      # setting (Predict::SelfCheck), nothing is recommended but what is better all the same (see better_for_all_that?).
      # Only what has a steady state is recommended, or, where nothing has one, what bears the most. What a proof shows
      # goes before forecasts, see by_proof.
      # Threshold: what is gained must be sure, and settings within 2% of each other are equal, see Choice. Effect:
      # throughput, p50 and p99, predicted over today's predicted. Cost: memory, or processes where memory is unknown;
      # database connections. Undo: today's options.
      class Topology < Rule
        PRIORITY = 100

        def call
          choose
          evidence = Evidence.new(workload, sweep, @choice, @kept)
          return [to_bear_more(evidence) || nothing_to_recommend(evidence.statements)] unless @chosen
          unless sweep.trusted? || better_for_all_that?
            return [to_measure([*evidence.doubts, *evidence.constraints].freeze)]
          end
          return [pool_first(evidence.statements)] if threads_for_a_pool?
          [go(title:, evidence: [*evidence.statements, *for_all_that],
            throughput_ratio: ratio(:throughput_per_s))]
        end

        # @param topologies [Array<Topology>] that a proof showed to be better than today's, in the order of preference
        # @param former [Topology, nil] what was recommended before
        # @param former_better [Boolean] whether the proof showed that to be better than today's, too, and these to be
        #   better than it
        # @return [Advice, nil] of the first that may be recommended; nil where none may be, or with goals: the cheapest
        #   setting that meets them is wanted then, and a proof does not rank by that
        def by_proof(topologies, former:, former_better:)
          return if @constraints.goals.any?
          choose
          @chosen = topologies.filter_map { |topology| permitted(topology) }.first or return
          evidence = Evidence.new(workload, sweep, @choice, @kept)
          settings = {today: @sweep.today, advised: @chosen.topology}
          go(title: say(:go_by_proof, **settings), throughput_ratio: ratio(:throughput_per_s),
            evidence: [say(:by_proof, **settings, former:, former_better:), *evidence.doubts, *evidence.constraints])
        end

        private

        def choose
          @sweep = sweep
          @choice = Choice.new(sweep, @constraints, with_more: method(:with_more))
          @kept = @choice.constraints
          @chosen = @choice.forecast
          @today = @choice.today
        end

        # Where clients are too few for today's slots, nothing is known of what these are for.
        #
        # @return [Predict::Forecast, nil] nil of what is not within the limits
        def permitted(topology)
          cell = @choice.allowed.find { |one| one.topology == topology } or return
          cell unless @choice.too_few_clients? && topology.slots_count < @today.topology.slots_count
        end

        # @return [Boolean] whether nothing is to be changed
        def stay? = @chosen.topology == @sweep.today

        def go(title:, evidence:, throughput_ratio:)
          evidence = [*queries_before, *evidence, *too_few_places, *without_hooks].freeze
          Advice.new(rule: rule_name, title:, evidence:, topology: @chosen.topology, throughput_ratio:,
            p50_ratio: ratio(:p50_ns), p99_ratio: ratio(:p99_ns), change: options(@chosen), cost:,
            undo: options(@today), lines:, factors: {"topology" => @chosen.topology.to_s}.freeze)
        end

        def with_more(forecasts) = @situation.sweep_under(Choice::MORE_LOAD_FACTOR, forecasts)

        # Where the model is far off: in a closed loop what surely serves more than today's setting, as that ratio's
        # interval holds the model's error, too, unless the recordings say otherwise; in an open one what is the best
        # under other loads as well. Nothing is known of a model that came to a deadlock.
        def better_for_all_that?
          return false if @choice.goals? || @choice.stay? || off_factors.include?(0.0)
          return best_under_other_loads? if @choice.open?
          @today.steady? && @choice.sure_gain?(@chosen, @today) && !recorded_otherwise?
        end

        # The intervals hold the mean error of all that is off, so that of many recordings the one which is off by most
        # widens them by far less than that. Of an app that is supposed to be another one, recordings say nothing.
        #
        # @return [Boolean] whether both settings were recorded, and the chosen one served no more than today's
        def recorded_otherwise?
          recorded = [@chosen, @today].filter_map do |cell|
            sweep.self_check.settings.find { |one| one.scenario == cell.scenario }&.figure("throughput")&.recorded
          end
          sweep.what_if.empty? && recorded.size == 2 && recorded.first <= recorded.last
        end

        # An app that bears so much less than its model meets an open load as the model would meet one that is so much
        # heavier. What is a gain with both is so whichever is right; that nothing is, is no such finding.
        def best_under_other_loads?
          off_factors.all? do |factor|
            beside = @situation.sweep_under(factor, @choice.cells) or break false
            Choice.new(beside, @constraints).forecast&.topology == @chosen.topology
          end
        end

        # @return [Array<Float>] simulated throughput over recorded, of the settings that are too far off: the least and
        #   the most
        def off_factors
          sweep.self_check.far_off.map { |setting| 1 + setting.figure("throughput").error_ratio }.minmax.uniq
        end

        # @return [Statement, nil] why something is recommended by a model that is far off
        def for_all_that
          return if sweep.trusted?
          return say(:best_for_all_that, advised: @chosen.topology, load_ratios: off_factors) if @choice.open?
          say(:better_for_all_that, advised: @chosen.topology, today: @sweep.today,
            ratio: ratio(:throughput_per_s).low)
        end

        # The forecasts are of the app as it is: once its queries are fewer, so are the threads that it needs.
        #
        # @return [Statement, nil]
        def queries_before
          queries = Queries.new(@situation)
          say(:queries_before, endpoint: queries.worst.name) if queries.first?
        end

        # Nothing bears the load, and today's setting bears less than another one.
        #
        # @return [Advice, nil]
        def to_bear_more(evidence)
          return if @choice.goals? || !@choice.open?
          most = MostBorne.new(@situation, @choice).call or return
          @chosen = @choice.cells.find { |cell| cell.topology == most.topology }
          title = say(:go_to_more, today: @sweep.today, advised: most.topology, per_s: most.throughput_per_s,
            arrivals: @today.scenario.arrivals.summary, machines_count: most.machines_count)
          go(title:, evidence: evidence.statements, throughput_ratio: most.throughput_ratio)
        end

        def nothing_to_recommend(evidence)
          remark(title: say(:no_topology, constraints: constraints(@kept.any?),
            arrivals: @today.scenario.arrivals.summary), evidence:, change: say(:something_larger),
            cost: say(:resources_or_work), undo: options(@today))
        end

        # Waits for a pool that was not watched are replayed like IO, and look as if more threads would fill them.
        def threads_for_a_pool?
          @chosen.topology.threads_count > @today.topology.threads_count && workload.locks.empty? &&
            @situation.pool_ratio.to_f >= StarvedPool::LEAST_RATIO
        end

        def pool_first(evidence)
          remark(title: say(:pool_before_threads, advised: @chosen.topology), evidence:, change: say(:watch_pool),
            cost: say(:minutes), undo: say(:nothing_changed))
        end

        # Puma's default without workers is a single process.
        def lines
          threads_count = @chosen.topology.threads_count
          {PUMA_RB => "workers #{@chosen.topology.puma_workers}\nthreads #{threads_count}, #{threads_count}",
           **(small_pool ? pool_lines(places_for(@chosen.topology)) : {})}.freeze
        end

        # Where threads are advised, each may need a connection at a time.
        #
        # @return [Probe::LockObservation, nil] the smallest of Active Record's pools, where it has fewer places
        def small_pool
          return if stay?
          pool = pools.select { |one| of_active_record?(one) && one.size }.min_by(&:size)
          pool if pool && pool.size < places_for(@chosen.topology)
        end

        def too_few_places
          places_count = places_for(@chosen.topology)
          return say(:unseen_pool, places_count:) if unseen_pool?
          return unless small_pool
          say(:too_few_places, size: small_pool.size, places_count:, threads_count: @chosen.topology.threads_count,
            others_count: other_holders_count)
        end

        # What puma.rb has in its hooks is not known here.
        def without_hooks
          return unless @situation.cluster? && @sweep.today.workers_count > 1 && @chosen.topology.workers_count == 1
          say(:no_hooks, hook: @situation.boot_hook)
        end

        # Active Record gives up waiting for a connection after 5 s, and the request fails.
        def unseen_pool?
          observation && observation.locks.nil? && !@situation.gem("activerecord").nil? && !stay? &&
            @chosen.topology.threads_count > @today.topology.threads_count
        end

        # A remark, as nothing is promised.
        def to_measure(evidence)
          missed = @sweep.self_check.far_off.map do |setting|
            [setting.scenario.topology.to_s, 1 + setting.figure("throughput").error_ratio]
          end
          remark(title: say(:measure_first, missed:), evidence:,
            change: say(:measure, topologies: [@today, *@choice.candidates].map { |cell| cell.topology.to_s }.uniq),
            cost: say(:minutes), undo: say(:nothing_changed))
        end

        def constraints(wanted) = (@kept if wanted)

        def title
          return say(:stay_unmet, today: @sweep.today, constraints: @kept) unless @choice.best
          return say(:stay, today: @sweep.today) if @choice.stay?
          settings = {today: @sweep.today, advised: @chosen.topology}
          return say(:go_cheapest, **settings, constraints: @kept, **other_throughput) if @choice.goals?
          return say(:go_to_steady, **settings) unless @today.steady?
          say(:go, **settings, constraints: constraints(!@choice.allowed.include?(@today)), **gain)
        end

        # A difference that could not be proved is not promised, in either direction.
        #
        # @return [Hash] what is promised besides as many requests, or more of these
        def gain
          return other_throughput if other_throughput.any?
          slots_less_count = @today.topology.slots_count - @chosen.topology.slots_count
          return {slots_less_count:} if slots_less_count.positive? && !(@choice.open? && other_tail?)
          {p99_ratio: ratio(:p99_ns).value}
        end

        # @return [Hash] empty where it is as many requests/s, or nobody knows
        def other_throughput
          throughput_ratio = ratio(:throughput_per_s)&.value
          return {} if throughput_ratio.nil? || @choice.open?
          ((throughput_ratio - 1).abs > Choice::EQUAL_WITHIN_RATIO) ? {throughput_ratio:} : {}
        end

        def other_tail? = (ratio(:p99_ns).value - 1).abs > Choice::EQUAL_P99_WITHIN_RATIO

        def ratio(metric)
          return unless @today.steady?
          return @chosen.public_send(metric).with(value: 1.0, low: 1.0, high: 1.0) if stay?
          @choice.ratio(@chosen, @today, metric)
        end

        def options(forecast) = say(:puma_options, topology: forecast.topology)

        def cost
          return say(:nothing) if stay?
          memory = [@chosen, @today].map(&:memory_bytes)
          say(:slots, slots_counts: slots(:slots_count), workers_counts: slots(:workers_count),
            memory_bytes: (memory unless memory.include?(nil)))
        end

        # @return [Array<Integer>] advised, and today's
        def slots(count) = [@chosen, @today].map { |forecast| forecast.topology.public_send(count) }
      end
    end
  end
end
