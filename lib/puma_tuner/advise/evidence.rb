# frozen_string_literal: true

module PumaTuner
  module Advise
    # What a choice of a topology rests on, in sentences.
    class Evidence
      LIMITS = {"threads" => "its threads", "gvl" => "the GVL", "cores" => "the cores", "clients" => "the number of connections",
                "none" => "nothing at this rate"}.freeze

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

      # @return [Array<String>]
      def sentences
        advised = predicted("Advised", chosen) if chosen && !@choice.stay?
        [*doubts, predicted("Today", @choice.today), advised, why, rule_of_thumb, constraints, load, assumed].compact.freeze
      end

      # @return [String, nil] what is kept to, and by how many; nil where anything goes
      def constraints
        return unless @constraints.any?
        met = "#{@choice.allowed.size} of #{Units.counted(@choice.cells.size, "topology", "topologies")} meet it#{supposed}."
        @constraints.of_container? ? "Kept to: #{@constraints}; #{met} `--max-memory` sets another limit." : "Asked for: #{@constraints}; #{met}"
      end

      private

      def doubts = @sweep.self_check&.sentences

      def chosen = @choice.forecast

      def best = @choice.best

      def predicted(label, forecast)
        return "#{label}, #{forecast.topology}: no steady state, as #{forecast.unsteady}." unless forecast.steady?
        "#{label}, #{forecast.topology}: #{rate(forecast)} predicted in #{Units.counted(@sweep.seeds_count, "simulation")}, " \
          "p50 #{duration(forecast.p50_ns)}, p99 #{duration(forecast.p99_ns)}; limited by #{LIMITS.fetch(forecast.bottleneck)}."
      end

      def rate(forecast)
        estimate = forecast.throughput_per_s
        "#{Units.rate(estimate.value)} requests/s (#{Units.rate(estimate.low)} to #{Units.rate(estimate.high)})"
      end

      def duration(estimate)
        "#{Units.duration(estimate.value)} (#{Units.duration(estimate.low)} to #{Units.duration(estimate.high)})"
      end

      def why
        return unless best
        if best == chosen
          return "No other topology #{@constraints.any? ? "that meets the constraints" : "predicted"} #{@choice.open? ? "has a lower p99" : "gives more requests/s"}."
        end
        better = @choice.open? ? "with a p99 of #{duration(best.p99_ns)}" : "at #{rate(best)} and a p99 of #{duration(best.p99_ns)}"
        "#{best.topology} is predicted #{better}, with #{Units.counted(best.topology.slots_count, "slot")} instead of #{chosen.topology.slots_count}: #{not_more}."
      end

      # Beyond the margin by its middle, it is the interval that promises nothing.
      def not_more
        name, margin_ratio = @choice.open? ? [:p99_ns, Choice::EQUAL_P99_WITHIN_RATIO] : [:throughput_per_s, Choice::EQUAL_WITHIN_RATIO]
        ratio = @choice.ratio(best, chosen, name)
        change = "#{Units.change(ratio.value)} (#{Units.change(ratio.low)} to #{Units.change(ratio.high)})"
        return "not #{Units.percent(margin_ratio)} #{@choice.open? ? "less" : "more"}" unless ratio.covers?(1)
        "the difference of #{change} may be none, and of such settings the one with the fewest slots is taken"
      end

      def rule_of_thumb
        threads_count = @sweep.rule_of_thumb_threads_count or return
        topology = PumaTuner::Topology.from((chosen || @choice.today).topology.workers_count, threads_count)
        "The rule of thumb, 100 over the CPU percentage (#{Units.percent(@workload.cpu_ratio)}), gives " \
          "#{Units.counted(threads_count, "thread")}: #{topology} #{outcome(@choice.cells.find { |forecast| forecast.topology == topology })}."
      end

      def outcome(forecast)
        return "is outside the topologies predicted" unless forecast
        forecast.steady? ? "is predicted at #{rate(forecast)}" : "has no steady state"
      end

      # What is held against a limit on memory where it was not recorded.
      def supposed
        return if @constraints.max_memory_bytes.nil? || @choice.cells.all?(&:memory_bytes)
        return ", with processes that were not recorded taken to share nothing" unless @choice.memory_unknown?
        ", as no more workers than today's: what they take is unknown" if @constraints.of_container?
      end

      # Of several loads, or of another than the recording's, a reader must know which.
      def load
        arrivals = @choice.today.scenario.arrivals
        return "The recording had #{@sweep.arrivals}; this is about #{arrivals}." unless arrivals == @sweep.arrivals
        "Of all that was predicted, this is about #{arrivals}, as recorded." if @choice.cells.size < @sweep.forecasts.size
      end

      def assumed = ("Assumed, and not measured: #{@sweep.what_if.join("; ")}." if @sweep.what_if.any?)
    end
  end
end
