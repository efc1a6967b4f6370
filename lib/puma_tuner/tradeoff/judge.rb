# frozen_string_literal: true

module PumaTuner
  module Tradeoff
    # Verdict -> Study: each variant's place, the Pareto front, and what to take.
    #
    # Decides what to take. It looks at the variants that are shown, for all of them together, to take less CPU than the
    # baseline (or at the baseline, where none is) and keep to the memory there is. It takes the one with least memory
    # among those that the cheapest is not shown to beat by more than 2%, and that are shown to need less memory than it
    # does.
    class Judge
      EQUIVALENT_RATIO = 0.02

      # A process whose memory grows by more than this share in the last third of the load is not done growing.
      GROWTH_RATIO = 0.02

      # @param verdict [Prove::Verdict]
      # @param subject [String]
      # @param workers_count [Integer, nil] to estimate for; nil: as many as ran
      # @param memory_limit_bytes [Integer, nil] for all of them
      def initialize(verdict, subject:, workers_count: nil, memory_limit_bytes: nil)
        @verdict = verdict
        @subject = subject
        @ran_count = verdict.cells.first.topology&.workers_count || 1
        @workers_count = workers_count || @ran_count
        @memory_limit_bytes = memory_limit_bytes
      end

      # @return [Study]
      def call
        points = with_pareto_front(@verdict.cells.map { |cell| point(cell) })
        recommended, reason = recommendation(points)
        Study.new(subject: @subject, points:, recommended: recommended.variant, reason:, workers_count: @workers_count,
          memory_limit_bytes: @memory_limit_bytes,
          estimated_bytes: points.to_h { |one| [one.variant, estimated_bytes(one)] }, verdict: @verdict)
      end

      private

      def point(cell)
        trials = @verdict.valid_trials.select { |trial| trial.variant == cell.variant }
        Point.new(
          variant: cell.variant, settings: settings(cell.factors), cpu_ratio: ratio(cell, "cpu_per_request"),
          memory_ratio: ratio(cell, "pss"),
          cpu_per_request_ns: cell.estimates["cpu_per_request"], pss_bytes: cell.estimates["pss"],
          p99_ns: cell.estimates["p99"],
          **code(trials), growth_ratio: median(trials.filter_map { |trial| growth(trial) }), pareto_optimal: false,
          dominated: false, remarks: []
        ).then { |made| made.with(remarks: remarks(made, cell)) }
      end

      # @return [Array<String>] as people set them for good: variables of the server's environment, a line each
      def settings(factors)
        factors.filter_map do |key, value|
          case key
          when "yjit" then "RUBY_YJIT_ENABLE=1" if value == "on"
          # The same for all, and no part of what was tried.
          when "topology" then nil
          when "rubyopt" then "RUBYOPT=\"#{value}\""
          when "preload" then "LD_PRELOAD=#{value}"
          else "#{key.delete_prefix("env.")}=#{value}"
          end
        end
      end

      def ratio(cell, metric)
        @verdict.ratio(metric, of: cell.variant, over: @verdict.baseline) unless cell.variant == @verdict.baseline
      end

      def code(trials)
        bytes, ratio, new_ratio = %w[yjit_code_bytes yjit_code_ratio yjit_new_ratio].map do |name|
          median(trials.filter_map { |trial| trial.conditions[name] })
        end
        {code_bytes: bytes&.round, code_ratio: ratio, new_code_ratio: new_ratio}
      end

      # @param trial [Prove::Trial]
      # @return [Float, nil] in the last third of what was served after the warm-up; nil of a curve too short to tell
      def growth(trial)
        curve = trial.memory
        return if curve.size < 4
        warm_count = trial.warmup&.requests_count.to_i
        from = warm_count + (curve.last.first - warm_count) * 2 / 3
        at_two_thirds = curve.reverse.find { |count, _| count <= from } || curve.first
        (curve.last[1] - at_two_thirds[1]).fdiv(curve.last[1])
      end

      def median(numbers) = (Stats::Quantile.of(numbers.sort, 0.5) if numbers.any?)

      def remarks(made, cell)
        [
          (if made.code_ratio && made.code_ratio >= Probe::YjitLimit::ALARM_RATIO
             "YJIT has used #{Units.percent(made.code_ratio)} of its limit, " \
              "and stops compiling at 100%."
           end),
          (if compiling?(made)
             "YJIT was still compiling: #{Units.percent(made.new_code_ratio)} of its code came during the load. " \
              "Its price is in these figures, and not all of its gain."
           end),
          (if made.growth_ratio && made.growth_ratio > GROWTH_RATIO
             "Its memory was still growing: #{Units.percent(made.growth_ratio)} of it came in the last third of the " \
              "load. Give it longer --duration."
           end),
          ("#{cell.unsteady_count} of its trials never became steady." if cell.unsteady_count.positive?)
        ].compact
      end

      def compiling?(one) = one.new_code_ratio && one.new_code_ratio > Prove::Conditions::YJIT_NEW_RATIO_MAX

      def with_pareto_front(points)
        points.map do |one|
          others = points - [one]
          one.with(pareto_optimal: others.none? { |other| better?(other, one) },
            dominated: others.any? { |other| clearly_better?(other, one) })
        end
      end

      # Better in one, and not worse in the other, by the middle of the rounds.
      def better?(other, one)
        other.cpu <= one.cpu && other.memory <= one.memory && (other.cpu < one.cpu || other.memory < one.memory)
      end

      def clearly_better?(other, one)
        high(other.cpu_ratio) < low(one.cpu_ratio) && high(other.memory_ratio) < low(one.memory_ratio)
      end

      def high(estimate) = estimate&.high || 1.0

      def low(estimate) = estimate&.low || 1.0

      # @return [Array(Point, String)]
      def recommendation(points)
        baseline = points.first
        serving = points.reject { |one| @verdict.failing(one.variant) }
        fitting = serving.select { |one| fits?(one) }
        if fitting.empty?
          return [serving.min_by(&:memory), "None fits into #{Units.mebibytes(@memory_limit_bytes)} with " \
            "#{@workers_count} workers; this one needs least memory."]
        end
        shown = fitting.select { |one| @verdict.comparison(one.variant, "cpu_per_request")&.outcome == :better }
        return nothing_shown(fitting, baseline) if shown.empty?
        cheapest = shown.min_by(&:cpu)
        chosen = [cheapest, *leaner(shown - [cheapest], cheapest)].min_by(&:memory)
        [chosen, reason(chosen, cheapest)]
      end

      # Held against the cheapest itself: an interval over the baseline also has how far the baseline scatters. Of many
      # each has its share of the 5% (Bonferroni), so that chance alone makes none of them lean.
      def leaner(others, cheapest)
        others.select do |one|
          ratio = ->(metric, **level) { @verdict.ratio(metric, of: one.variant, over: cheapest.variant, **level) }
          cpu, memory = ratio.call("cpu_per_request"), ratio.call("pss", level_ratio: 1 - 0.05 / others.size)
          cpu && memory && cpu.low <= 1 + EQUIVALENT_RATIO && memory.high < 1
        end
      end

      def nothing_shown(fitting, baseline)
        if fitting.any? { |one| compiling?(one) }
          early = " But YJIT was still compiling in some, so that not all of its gain is in these figures."
        end
        if fitting.include?(baseline)
          return [baseline, "Nothing is shown to take less CPU than #{baseline.variant}.#{too_few_rounds}#{early}"]
        end
        least = fitting.min_by(&:cpu)
        [least, "#{baseline.variant} does not fit into the memory there is; " \
          "of those that do, this one takes least CPU."]
      end

      def too_few_rounds
        needed = @verdict.rounds_needed
        return if @verdict.rounds_count >= needed.interval_count
        " #{Units.counted(@verdict.rounds_count, "round")} can show nothing of so many settings: " \
          "it takes #{needed.interval_count} or more."
      end

      def reason(chosen, cheapest)
        over = "#{(EQUIVALENT_RATIO * 100).round}%"
        return "It takes least CPU, and none within #{over} is shown to need less memory." if chosen == cheapest
        "It is not shown to take more CPU than the cheapest (#{cheapest.variant}) by more than #{over}, and needs " \
          "less memory."
      end

      def fits?(one)
        bytes = estimated_bytes(one)
        @memory_limit_bytes.nil? || (bytes && bytes <= @memory_limit_bytes)
      end

      def estimated_bytes(one) = one.pss_bytes && (one.pss_bytes.value * @workers_count / @ran_count).round
    end
  end
end
