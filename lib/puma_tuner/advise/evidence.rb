# frozen_string_literal: true

module PumaTuner
  module Advise
    # What a choice of a topology rests on.
    class Evidence
      # @param workload [Model::Workload]
      # @param sweep [Predict::Sweep]
      # @param choice [Choice]
      # @param constraints [Constraints]
      def initialize(workload, sweep, choice, constraints)
        @workload = workload
        @sweep = sweep
        @choice = choice
        @constraints = constraints
      end

      # @return [Array<Statement>]
      def statements
        advised = predicted(:advised, chosen) if chosen && !@choice.stay?
        [*doubts, predicted(:today, @choice.today), advised, why, too_few_clients, heaps_differ, *worse_with_more,
          rule_of_thumb, constraints, load, assumed]
          .compact.freeze
      end

      # @return [Array<Statement>] what the model does not reproduce of what it was made from
      def doubts
        check = @sweep.self_check or return []
        [*check.off.map { |setting| Statement.of(:not_reproduced, setting:) },
          *(Statement.of(:wider_intervals) if check.widened?)]
      end

      # @return [Statement, nil] what is kept to, and by how many; nil where anything goes
      def constraints
        return unless @constraints.any?
        Statement.of(:constraints, constraints: @constraints, met_count: @choice.allowed.size,
          all_count: @choice.cells.size, supposed:)
      end

      private

      def chosen = @choice.forecast

      def best = @choice.best

      # @param who [Symbol] :today or :advised
      def predicted(who, forecast)
        unless forecast.steady?
          return Statement.of(:unsteady, who: who.to_s, topology: forecast.topology, reason: forecast.unsteady)
        end
        Statement.of(:predicted, who: who.to_s, topology: forecast.topology, per_s: forecast.throughput_per_s,
          p50_ns: forecast.p50_ns, p99_ns: forecast.p99_ns, bottleneck: forecast.bottleneck,
          seeds_count: @sweep.seeds_count)
      end

      def why
        return if best.nil? || @choice.goals?
        return if best == chosen && @choice.too_few_clients?
        return Statement.of(:none_better, open: @choice.open?, constrained: @constraints.any?) if best == chosen
        Statement.of(:little_better, open: @choice.open?, topology: best.topology, per_s: best.throughput_per_s,
          p99_ns: best.p99_ns, slots_count: best.topology.slots_count,
          instead_count: chosen.topology.slots_count, **not_more)
      end

      def too_few_clients
        return unless @choice.too_few_clients?
        slots_count = @choice.today.topology.slots_count
        clients_count = @choice.today.scenario.arrivals.connections_count
        Statement.of(:too_few_clients, slots_count:, clients_count:,
          wanted_count: MostBorne::CLIENTS_PER_SLOT_COUNT * [slots_count, clients_count].max)
      end

      # What is best by its forecast is not taken for a reason that a reader must know.
      def heaps_differ
        return if best.nil? || best == chosen || @choice.goals? || !@choice.open? || !@choice.collecting?
        Statement.of(:heaps_differ, gc_ratio: best.budget.gc_ns.fdiv(best.budget.on_core_ns),
          margin_ratio: @choice.near_p99_ratio)
      end

      # Those with fewer slots, which would have been taken.
      def worse_with_more
        return [] if chosen.nil? || @choice.stay? || @choice.goals?
        fewer = @choice.not_with_more.select { |cell, _| cell.topology.slots_count < chosen.topology.slots_count }
        fewer.map do |cell, more, top|
          Statement.of(:worse_with_more, topology: cell.topology, load_ratio: Choice::MORE_LOAD_FACTOR,
            p99_ns: more.p99_ns, top: top.topology, top_p99_ns: top.p99_ns)
        end
      end

      # Beyond the margin by its middle, it is the interval that promises nothing.
      def not_more
        name, margin_ratio = if @choice.open?
          [:p99_ns, @choice.near_p99_ratio]
        else
          [:throughput_per_s, Choice::EQUAL_WITHIN_RATIO]
        end
        ratio = @choice.ratio(best, chosen, name)
        {ratio:, margin_ratio: (margin_ratio unless ratio.covers?(1))}
      end

      def rule_of_thumb
        threads_count = @sweep.rule_of_thumb_threads_count or return
        topology = PumaTuner::Topology.from((chosen || @choice.today).topology.workers_count, threads_count)
        forecast = @choice.cells.find { |cell| cell.topology == topology }
        Statement.of(:rule_of_thumb, cpu_ratio: @workload.held_ratio, threads_count:, topology:,
          predicted: !forecast.nil?, per_s: (forecast.throughput_per_s if forecast&.steady?))
      end

      # How memory that was not recorded is held against a limit on it.
      #
      # @return [String, nil]
      def supposed
        return if @constraints.max_memory_bytes.nil? || @choice.cells.all?(&:memory_bytes)
        return "nothing_shared" unless @choice.memory_unknown?
        "no_more_workers" if @constraints.of_container?
      end

      # Of several loads, or of another than the recording's, a reader must know which.
      def load
        arrivals = @choice.today.scenario.arrivals
        unless arrivals == @sweep.arrivals
          return Statement.of(:other_load, recorded: @sweep.arrivals.summary, arrivals: arrivals.summary)
        end
        Statement.of(:recorded_load, arrivals: arrivals.summary) if @choice.cells.size < @sweep.forecasts.size
      end

      def assumed = (Statement.of(:assumed, what_if: @sweep.what_if) if @sweep.what_if.any?)
    end
  end
end
