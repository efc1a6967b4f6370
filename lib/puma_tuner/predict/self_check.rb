# frozen_string_literal: true

module PumaTuner
  module Predict
    # One figure of a recording, beside what simulations of the same setting and load show.
    #
    # metric: "throughput", "p50", "p99", or a part of the budget, such as "gvl_wait"
    # recorded: requests/s; nanoseconds of a latency, or of a part in a mean request
    # simulated: Estimate in the same unit; another recording of as many
    #   requests would lie in its interval, were the model right
    # error_ratio: simulated over recorded, less 1; of a part, their difference
    #   as a share of the recorded request, see SelfChecker
    # beyond_noise: whether it is more than chance and repeated recordings explain
    CheckedFigure = Document.define(:metric, :recorded, :simulated, :error_ratio, :beyond_noise,
      nested: {simulated: Stats::Estimate}) do
      const_set(:WHOLES, %w[throughput p50 p99].freeze)

      # @return [Boolean] whether it is a part of the budget
      def part? = !self.class::WHOLES.include?(metric)

      # @return [String] "throughput +12%"
      def to_s = "#{metric} #{Units.change(1 + error_ratio)}"
    end

    # The model's result for one recorded setting. cause: a Statement, the likely one of what is beyond noise; nil where
    # nothing is
    CheckedSetting = Document.define(:scenario, :figures, :cause,
      nested: {scenario: Scenario, figures: [CheckedFigure], cause: Statement}) do
      # @return [Array<CheckedFigure>]
      def off = figures.select(&:beyond_noise)

      # @param metric [String]
      # @return [CheckedFigure, nil]
      def figure(metric) = figures.find { |figure| figure.metric == metric }

      # @return [String] "1x5 with 10 connections"
      def name = "#{scenario.topology} with #{scenario.arrivals}"
    end

    # Tells whether the model reproduces what it was made from: every recorded setting and load is simulated and
    # compared with what the recording saw. What is off there is off elsewhere, too: where one setting was recorded it
    # tells of the model, and where several were, of how far it carries from one number of threads and workers to
    # another.
    #
    # settings: Array<CheckedSetting>, the recording that the model was fitted to first
    SelfCheck = Document.define(:settings, nested: {settings: [CheckedSetting]}) do
      # When the throughput is so far off, no setting is recommended but what is better all the same, see
      # Advise::Rules::Topology. This is a judgement: it is more than most changes of a setting bring, and several times
      # the model's usual error.
      const_set(:TRUSTED_RATIO, 0.15)

      # @return [Array<CheckedSetting>] those with a figure beyond noise
      def off = settings.reject { |setting| setting.off.empty? }

      # @return [Boolean] whether advice may rest on the forecasts alone
      def trusted? = far_off.empty?

      # @return [Array<CheckedSetting>] where the throughput is too far off for any advice
      def far_off
        off.select do |setting|
          setting.figure("throughput")&.then do |figure|
            figure.beyond_noise && figure.error_ratio.abs > self.class::TRUSTED_RATIO
          end
        end
      end

      # The settings that are reproduced say nothing against the others, so they do not make it smaller.
      #
      # @param metric [String] of a CheckedFigure
      # @return [Float] root mean square of ln(simulated / recorded), where it is beyond noise; 0 where it is nowhere
      def error_ratio(metric)
        logs = off.flat_map(&:off)
          .select { |figure| figure.metric == metric && figure.recorded.positive? && figure.simulated.value.positive? }
          .map { |figure| Math.log(figure.simulated.value / figure.recorded) }
        logs.empty? ? 0.0 : Math.sqrt(logs.sum { |log| log**2 } / logs.size)
      end

      # @return [Boolean] whether threads that took the recorded locks came to wait for each other forever
      def deadlock? = off.any? { |setting| setting.cause&.kind == :deadlock }

      # @return [Boolean] whether intervals are wider by what is beyond noise, as they are not by a deadlock
      def widened?
        off.flat_map(&:off).any? do |figure|
          (!figure.part? || figure.metric == "gvl_wait") && figure.simulated.value.positive?
        end
      end
    end
  end
end
