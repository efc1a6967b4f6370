# frozen_string_literal: true

module PumaTuner
  module Advise
    module Rules
      # Recommends workers and threads; also when the recommendation is to leave them as they are.
      #
      # Evidence: a sweep that holds today's topology; only what has a steady state is recommended, and nothing while the model is more than
      # 15 % off the throughput of a recorded setting (Predict::SelfCheck). Threshold: the interval of what is gained must not hold
      # none, and cells within 3 % of each other are equal, see Choice. Effect: throughput, p50 and p99, predicted over today's
      # predicted. Cost: memory, or processes where memory is unknown; database connections. Undo: today's options.
      class Topology < Rule
        def call(workload, sweep)
          @sweep = sweep
          @choice = Choice.new(sweep, @constraints)
          @chosen = @choice.forecast
          @today = @choice.today
          evidence = Evidence.new(workload, sweep, @choice, @constraints)
          return [nothing_to_recommend(evidence.sentences)] unless @chosen
          return [to_measure(evidence.constraints)] unless sweep.trusted?
          [Advice.new(rule: rule_name, title:, evidence: evidence.sentences, topology: @chosen.topology,
            throughput_ratio: ratio(:throughput_per_s), p50_ratio: ratio(:p50_ns), p99_ratio: ratio(:p99_ns),
            change: options(@chosen), cost:, undo: options(@today))]
        end

        private

        def nothing_to_recommend(evidence)
          wanted = @constraints.any? ? "meets #{@constraints} and has a steady state" : "has a steady state"
          remark(title: "No topology predicted #{wanted} with #{@today.scenario.arrivals}", evidence:,
            change: "more workers or threads than were predicted, a machine with more cores, or less work in each request",
            cost: "memory and database connections, a machine, or work on the code", undo: options(@today))
        end

        # A remark, as nothing is promised.
        def to_measure(constraints)
          measured = [@today, *@choice.candidates].map(&:topology).uniq.join(",")
          remark(title: "No setting is recommended without a measurement: the model misses the throughput it recorded (#{missed})", evidence: [*@sweep.self_check.sentences, *constraints].freeze,
            change: "measure the likeliest settings: `puma_tuner prove --topologies #{measured}` with the recording's app and load, or `puma_tuner tune`, " \
              "which puts them into its proof",
            cost: "the minutes that it takes", undo: "nothing is changed")
        end

        def missed
          @sweep.self_check.far_off.map { |setting| "at #{setting.scenario.topology} by #{Units.change(1 + setting.figure("throughput").error_ratio)}" }.join(", ")
        end

        def title
          return "Stay with #{@sweep.today}: nothing predicted meets #{@constraints}" unless @choice.best
          return "Stay with #{@sweep.today}" if @choice.stay?
          return "Go from #{@sweep.today} to #{@chosen.topology}: #{@sweep.today} has no steady state" unless @today.steady?
          reason = ", to meet #{@constraints}" unless @choice.allowed.include?(@today)
          "Go from #{@sweep.today} to #{@chosen.topology}#{reason}: #{gain}"
        end

        # A difference that could not be proved is not promised, in either direction.
        def gain
          throughput_ratio = ratio(:throughput_per_s).value
          return "#{Units.change(throughput_ratio)} requests/s" if !@choice.open? && (throughput_ratio - 1).abs > Choice::EQUAL_WITHIN_RATIO
          slots_difference = @today.topology.slots_count - @chosen.topology.slots_count
          if slots_difference.positive? && !(@choice.open? && other_tail?)
            return "as many requests/s with #{Units.counted(slots_difference, "slot")} less"
          end
          "as many requests/s, #{Units.change(ratio(:p99_ns).value)} p99"
        end

        def other_tail? = (ratio(:p99_ns).value - 1).abs > Choice::EQUAL_P99_WITHIN_RATIO

        def ratio(metric)
          return unless @today.steady?
          return @chosen.public_send(metric).with(value: 1.0, low: 1.0, high: 1.0) if @choice.stay?
          @choice.ratio(@chosen, @today, metric)
        end

        def options(forecast) = "puma #{forecast.topology.to_puma_options}"

        def cost
          return "none" if @choice.stay?
          "#{memory_cost}; room for #{@chosen.topology.slots_count} database connections, today #{@today.topology.slots_count}"
        end

        def memory_cost
          if @chosen.memory_bytes && @today.memory_bytes
            return "#{Units.mebibytes(@chosen.memory_bytes)} of memory, today #{Units.mebibytes(@today.memory_bytes)}"
          end
          "#{Units.counted(@chosen.topology.workers_count, "worker")}, today #{@today.topology.workers_count} (memory unknown)"
        end
      end
    end
  end
end
