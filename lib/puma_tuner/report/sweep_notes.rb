# frozen_string_literal: true

module PumaTuner
  module Report
    # What is to be said of a sweep as a whole, in sentences: the same in every format.
    class SweepNotes
      # Metrics in people's words, as the track record names them.
      WORDS = {"throughput" => "throughput", "mean" => "mean latency", "gvl_wait" => "GVL wait"}.freeze
      private_constant :WORDS

      # @param sweep [Predict::Sweep]
      def initialize(sweep)
        @sweep = sweep
      end

      # @return [String, nil] to stand above everything, as nothing below it is about the app as it is
      def assumed = ("Assumed, and not measured: #{@sweep.what_if.join("; ")}." if @sweep.what_if.to_a.any?)

      # @return [String] where the numbers come from
      def made
        "Middle and #{interval_word} of #{Figures.counted(@sweep.seeds_count, "simulation")} of " \
          "#{Figures.counted(@sweep.requests_count, "request")} each"
      end

      # @return [String, nil] how far forecasts of this app were off
      def past_error
        errors = @sweep.past_error&.reject { |name, _| name.end_with?("checks_count") }&.compact
        return if errors.nil? || errors.empty?
        told = errors.map { |metric, ratio| "#{percent(ratio)} in #{WORDS.fetch(metric, metric)}" }
        "Forecasts of this app have missed by about #{Figures.list(told)} " \
          "(#{Figures.counted(@sweep.past_error["checks_count"], "check")}); the intervals contain that."
      end

      # @return [Array<String>] what limits these forecasts
      def remarks = [*@sweep.remarks, *limits].map { |remark| remark.end_with?(".") ? remark : "#{remark}." }

      # @return [String, nil] that the model reproduces what it was made from; what it does not is told before anything
      # else
      def reproduced = SelfCheckWords.reproduced(@sweep.self_check)

      # @return [Array<String>] what it does not reproduce, where that is too much to be told before anything else
      def missed
        check = @sweep.self_check
        (check && check.off.size > 1) ? SelfCheckWords.sentences(check) : []
      end

      # @return [Array<String>] all that stands below
      def below = [*missed, interval, reproduced, past_error, *remarks].compact

      # @return [String] on 100 over the CPU percentage
      def rule_of_thumb
        count = @sweep.rule_of_thumb_threads_count
        "The rule of thumb, 100 over the CPU percentage, gives " \
          "#{count ? Figures.counted(count, "thread") : "nothing here"}."
      end

      # @return [String] "95% interval", or "range" when it is minimum to maximum
      def interval_word = estimate ? Figures.level(estimate) : "range"

      private

      # One by one, as several have no name of their own.
      def limits
        @sweep.limits.flat_map { |limit| Unknowns.of([limit]).map { |told| told.reject(&:empty?).join(": ") } }
      end

      def interval
        return unless estimate&.level_ratio
        reaches = Predict::Check::FIELDS.map { |word, field| "#{reach(field)} in #{word}" }
        "An interval holds chance, the recording's sampling error, and what the model was seen to get wrong; it " \
          "reaches #{Figures.list(reaches)} to either side (the median of #{Figures.counted(steady.size, "forecast")})."
      end

      def reach(field)
        ratio = Stats::Quantile.of(steady.map { |forecast| forecast.public_send(field).reach_ratio }.sort, 0.5)
        # The low end of an interval of two simulations may be 0, and no factor leads there.
        return "beyond any bound" unless ratio.finite?
        (ratio > 1) ? "#{Units.significant(ratio + 1)} times" : percent(ratio)
      end

      def steady = @sweep.forecasts.select(&:steady?)

      def estimate = @sweep.forecasts.find(&:steady?)&.throughput_per_s

      def percent(ratio) = (ratio < 0.01) ? format("%.1f%%", ratio * 100) : format("%.0f%%", ratio * 100)
    end
  end
end
