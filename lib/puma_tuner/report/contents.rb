# frozen_string_literal: true

module PumaTuner
  module Report
    # What there is to show: a whole tuning, or one value of it on its own. Fields without a value are nil, and the
    # sections about them are left out.
    Contents = Data.define(:command, :recorded_at, :observation, :machine, :workload, :sweep, :advice_list, :verdict,
      :unproven, :checks) do
      # @param value [Data] any document
      # @return [Contents]
      def self.of(value)
        nothing = members.to_h { |member| [member, nil] }
        return new(**nothing, **value.to_h.slice(*members)) if value.is_a?(Tuning)
        own = value.is_a?(Prove::Verdict) ? {command: value.command, recorded_at: value.started_at} : {}
        new(**nothing, **own, value.class::KIND => value)
      end

      # @return [Boolean] whether it is more than one value on its own
      def whole? = !!(observation && sweep && advice_list)

      # @return [String, nil] what is recommended, and whether it was measured, or why nothing is: the title of a report
      def headline
        told = told_of_topology
        (told && before_topology.any?) ? "Fewer queries first. #{told}" : told
      end

      def told_of_topology
        return unrecommended unless recommendation
        title = AdviceWords.words(recommendation.title)
        return title if stay?
        comparison = recommended_cell && verdict.comparison(recommended_cell.variant, verdict.primary)
        case comparison&.outcome
        when nil then "Predicted: #{title}"
        when :better then "Go from #{today} to #{recommendation.topology}: #{Figures.ratio(comparison.ratio)} " \
          "#{primary.label}, measured"
        when :worse then "Predicted, and measured to be worse: #{title}"
        else "Predicted, and not shown: #{title}"
        end
      end
      private :told_of_topology

      # @return [Advise::Advice, nil] the advice that is about workers and threads
      def recommendation = advice_list&.recommendation

      # @return [Statement, nil] that the proof showed it to be better; nil of what forecasts recommend
      def by_proof = recommendation&.evidence&.find { |statement| statement.kind == :by_proof }

      # @return [Boolean] whether the model misses what it was made from by so much that advice can't rest on it alone
      def untrusted? = !!(sweep && advice_list) && !sweep.trusted?

      # @return [Boolean] whether nothing is recommended for that, and not for a reason of its own
      def measure_first?
        untrusted? && recommendation.nil? && [nil, :measure_first].include?(no_recommendation&.title&.kind)
      end

      # @return [Boolean] whether the recommendation is to change nothing
      def stay? = !!recommendation && recommendation.topology == today

      # @return [Advise::Advice, nil] the remark that stands in the place of a recommendation
      def no_recommendation = (other_advice.find { |advice| advice.rule == "topology" } unless recommendation)

      # What was measured in its place is told instead.
      def unrecommended
        return if verdict
        title = no_recommendation&.title
        return AdviceWords.words(title) if title && title.kind != :measure_first
        "No setting is recommended without a measurement" if title || untrusted?
      end
      private :unrecommended

      # @return [Array<Advise::Advice>] all but the recommendation
      def other_advice = advice_list ? advice_list.advice - [recommendation] : []

      # @return [Array<Advise::Advice>] of them, what is to be done before workers and threads are chosen
      def before_topology = other_advice.select(&:before_topology?)

      # @return [Topology, nil] today's
      def today = sweep&.today || observation&.topology || advice_list&.today

      # @return [Predict::Forecast, nil] of today's topology
      def forecast_today = sweep&.at(sweep.today)

      # @return [Predict::Forecast, nil] of the recommended topology
      def forecast_recommended = recommendation && sweep&.at(recommendation.topology)

      # @return [Prove::Cell, nil] the proof's baseline
      def baseline_cell = verdict&.baseline_cell

      # @return [Prove::Cell, nil] what the proof measured of the recommendation
      def recommended_cell
        return checked_cell if checks
        recommendation&.topology && other_cells.find { |cell| cell.topology == recommendation.topology }
      end

      # @return [Statement, nil] that it was measured with fewer places in Active Record's pool than are advised
      def starved = (recommendation.starved(recommended_cell.factors) if recommendation && recommended_cell)

      # Other advice has cells of today's topology, too.
      def checked_cell
        name = checks.find { |check| check.rule == recommendation&.rule }&.variant
        other_cells.find { |cell| cell.variant == name }
      end
      private :checked_cell

      # @return [Array<Prove::Cell>] all but the baseline
      def other_cells = verdict ? verdict.other_cells : []

      # @return [Array<Prove::Cell>] the baseline first
      def cells = [baseline_cell, *other_cells].compact

      # @return [Prove::Metric] of the proof, by its name
      def metric(name)
        verdict.metrics.find { |metric| metric.name == name } ||
          Prove::Metric.new(name:, label: name, unit: "count", more_is_better: false)
      end

      # @return [Prove::Metric] that was declared before
      def primary = metric(verdict.primary)

      # @return [Array<Prove::Metric>] the primary one first
      def metrics = verdict.metrics.partition { |metric| metric.name == verdict.primary }.flatten

      # @return [String] what is served or done, and counted: "request", or "iteration" of a block
      def noun = verdict.noun

      # @return [Hash{String => String}] what is not known, or not whole, with the reason
      def unknown
        {**Unknowns.of(observation&.unknown),
          **Unknowns.of(workload&.unknown).transform_keys { |name| "#{name} (of the model)" }}
      end

      # Attempts at a round, in the order they were made; a round that was void was tried again.
      #
      # @return [Array<Array<Prove::Trial>>]
      def attempts = verdict ? verdict.trials.each_slice(verdict.cells.size).to_a : []
    end
  end
end
