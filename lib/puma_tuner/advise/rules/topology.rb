# frozen_string_literal: true

module PumaTuner
  module Advise
    module Rules
      # Recommends workers and threads; also when the recommendation is to leave them as they are.
      #
      # Evidence: a sweep that holds today's topology. Threshold: cells within 3 % of the best throughput are equal, see
      # Choice. Effect: throughput, p50 and p99, predicted over today's predicted. Cost: memory, or processes where memory is
      # unknown; database connections. Undo: today's options.
      class Topology < Rule
        LIMITS = {"threads" => "its threads", "gvl" => "the GVL", "cores" => "the cores", "clients" => "the number of connections"}.freeze

        def call(workload, sweep)
          @sweep = sweep
          @choice = Choice.new(sweep, @constraints)
          @chosen = @choice.forecast
          @today = @choice.today
          [Advice.new(rule: rule_name, title:, evidence: evidence(workload), topology: @chosen.topology,
            throughput_ratio: ratio(:throughput_per_s), p50_ratio: ratio(:p50_ns), p99_ratio: ratio(:p99_ns),
            change: options(@chosen), cost:, undo: options(@today))]
        end

        private

        def title
          return "Stay with #{@sweep.today}: nothing predicted meets #{@constraints}" unless @choice.fastest
          return "Stay with #{@sweep.today}" if @choice.stay?
          reason = ", to meet #{@constraints}" unless @constraints.met_by?(@today)
          "Go from #{@sweep.today} to #{@chosen.topology}#{reason}: #{gain}"
        end

        # A difference that could not be proved is not promised, in either direction.
        def gain
          throughput_ratio = ratio(:throughput_per_s).value
          return "#{Units.change(throughput_ratio)} requests/s" if (throughput_ratio - 1).abs > Choice::EQUAL_WITHIN_RATIO
          slots_difference = @today.topology.slots_count - @chosen.topology.slots_count
          return "as many requests/s with #{counted(slots_difference, "slot")} less" if slots_difference.positive?
          "as many requests/s, #{Units.change(ratio(:p99_ns).value)} p99"
        end

        # The widest range that both ranges allow. Seeds are shared, so the truth is narrower.
        def ratio(metric)
          chosen = @chosen.public_send(metric)
          today = @today.public_send(metric)
          return chosen.with(value: 1.0, low: 1.0, high: 1.0) if @choice.stay?
          chosen.with(value: chosen.value.fdiv(today.value), low: chosen.low.fdiv(today.high), high: chosen.high.fdiv(today.low))
        end

        def evidence(workload)
          [
            forecast_sentence("Today", @today),
            (forecast_sentence("Advised", @chosen) unless @choice.stay?),
            why_sentence,
            rule_of_thumb_sentence(workload),
            constraints_sentence
          ].compact.freeze
        end

        def forecast_sentence(label, forecast)
          "#{label}, #{forecast.topology}: #{rate(forecast)} predicted in #{counted(@sweep.seeds_count, "simulation")}, " \
            "p50 #{duration(forecast.p50_ns)}, p99 #{duration(forecast.p99_ns)}; limited by #{LIMITS.fetch(forecast.bottleneck)}."
        end

        def rate(forecast)
          estimate = forecast.throughput_per_s
          "#{Units.rate(estimate.value)} requests/s (#{Units.rate(estimate.low)} to #{Units.rate(estimate.high)})"
        end

        def duration(estimate)
          "#{Units.duration(estimate.value)} (#{Units.duration(estimate.low)} to #{Units.duration(estimate.high)})"
        end

        def why_sentence
          fastest = @choice.fastest or return
          return "No other topology #{@constraints.any? ? "that meets the constraints" : "predicted"} gives more requests/s." if fastest == @chosen
          "#{fastest.topology} is predicted at #{rate(fastest)}: not #{Units.percent(Choice::EQUAL_WITHIN_RATIO)} more, " \
            "with #{counted(fastest.topology.slots_count, "slot")} instead of #{@chosen.topology.slots_count} " \
            "and a p99 of #{duration(fastest.p99_ns)}."
        end

        def rule_of_thumb_sentence(workload)
          threads_count = @sweep.rule_of_thumb_threads_count or return
          topology = PumaTuner::Topology.from(@chosen.topology.workers_count, threads_count)
          forecast = @sweep.at(topology)
          "The rule of thumb, 100 over the CPU percentage (#{Units.percent(workload.cpu_ratio)}), gives " \
            "#{counted(threads_count, "thread")}: #{topology} is " \
            "#{forecast ? "predicted at #{rate(forecast)}" : "outside the topologies predicted"}."
        end

        def constraints_sentence
          return unless @constraints.any?
          "Asked for: #{@constraints}; #{@choice.allowed.size} of #{counted(@sweep.forecasts.size, "topology", "topologies")} meet it."
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
          "#{counted(@chosen.topology.workers_count, "worker")}, today #{@today.topology.workers_count} (memory unknown)"
        end

        def counted(count, singular, plural = "#{singular}s") = "#{count} #{(count == 1) ? singular : plural}"

        register :topology, self
      end
    end
  end
end
