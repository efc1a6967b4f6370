# frozen_string_literal: true

module PumaTuner
  module Trial
    # What is known when `auto` decides whether to change the number of threads.
    #
    # at_s: since it began; threads_count: that all processes have now; least, most: that they may have
    # metric: "p99" or "throughput", of the forecasts; ratios: {threads => Estimate} over the present number, as costs
    #   (of the throughput the inverse): below 1 is better; requests_count: recorded, on which they rest
    # why_not: why there is no forecast, a word, or nil
    # workers_count, memory_bytes, memory_limit_bytes: how many serve, what all processes use together, and what their
    #   control group may; bytes are nil where nothing limits them
    # youngest_s: age of the youngest process; step_s, direction: when the last step was made and whether it went up (1)
    #   or down (-1), nil before any; served_count: requests since then
    # refused: {threads => seconds until which they are not tried again}, as they did harm
    Situation = Document.define(:at_s, :threads_count, :least, :most, :metric, :ratios, :requests_count, :why_not,
      :workers_count, :memory_bytes, :memory_limit_bytes, :youngest_s, :step_s, :direction, :served_count, :refused,
      nested: {ratios: {String => Stats::Estimate}}) do
      # Keys are numbers, and JSON has texts.
      def self.from_document(fields)
        read = super
        read.with(refused: read.refused.transform_keys(&:to_i), ratios: read.ratios.transform_keys(&:to_i))
      end
    end

    # Decides on the next step of `auto`, and what follows from its trial: pure functions. It goes one thread at a time
    # towards a number whose forecast is surely better, and otherwise does nothing, with the reason.
    class Step
      # How many cool-downs pass before a step: down less fast than up, as too few threads hurt more than too many; back
      # the way it came only after that much, so that it does not swing; and a number that did harm.
      UP_RESTS = 1
      DOWN_RESTS = 2
      BACK_RESTS = 4
      REFUSED_RESTS = 10

      # So many requests a minute of cool-down say whether the last step was right.
      REQUESTS_PER_MIN = 1_000

      class << self
        # @param situation [Situation]
        # @param cool_down_s [Numeric]
        # @return [Statement] :step with "to", or why nothing is done
        def of(situation, cool_down_s:) = new(situation, cool_down_s).call

        # @param step [Statement] that was tried
        # @param mode [Symbol] of Automatic::MODES
        # @param plan [Plan] of its trial
        # @param readings [Array<Reading>] of it
        # @param ended [Statement, nil] why it ended before its time
        # @return [Statement] :undone, :tried or :stepped
        def outcome(step, mode:, plan:, readings:, ended:)
          to, ratio, metric = step.facts.values_at("to", "ratio", "metric")
          ended ||= Decision.few(plan, readings)
          return Statement.of(:undone, to:, ended:) if ended
          return Statement.of(:tried, to:, ratio:, metric:) if mode == :trial
          Statement.of(:stepped, to:, ratio:, metric:, measured: Spans.new(plan, readings).p99_ratio)
        end

        # @param plan [Plan] of watching all workers after a step
        # @param ended [Statement, nil] why that ended before its time
        # @return [Statement] :kept or :taken_back
        def watched(plan, ended)
          return Statement.of(:kept, to: plan.threads_count) unless ended
          Statement.of(:taken_back, to: plan.threads_count, ended:)
        end
      end

      def initialize(situation, cool_down_s)
        @now = situation
        @cool_down_s = cool_down_s
      end

      # @return [Statement]
      def call
        return Statement.of(:deployed, seconds: @now.youngest_s) if @now.youngest_s < @cool_down_s
        return Statement.of(:no_forecast, why_not: @now.why_not, requests_count: @now.requests_count) if @now.why_not
        target, ratio = best
        return none unless target
        to = @now.threads_count + direction_to(target)
        return Statement.of(:refused, to:, seconds: @now.refused[to] - @now.at_s) if refused?(to)
        resting(to) || short_of_memory(to) || Statement.of(:step, to:, target:, ratio:, metric: @now.metric)
      end

      private

      def direction_to(target) = target <=> @now.threads_count

      # @return [Array(Integer, Stats::Estimate), nil] the best of those that are surely better
      def best
        @now.ratios.select { |count, ratio| count.between?(@now.least, @now.most) && ratio.high < 1 }
          .min_by { |count, ratio| [ratio.value.round(2), (count - @now.threads_count).abs] }
      end

      def none
        count, ratio = @now.ratios.select { |other, _| other.between?(@now.least, @now.most) }
          .min_by { |_, one| one.value }
        return Statement.of(other_allowed? ? :none_steady : :no_other) unless count
        Statement.of(:not_sure, count:, ratio:, metric: @now.metric)
      end

      # The range is empty where a process has fewer database connections than the least threads that it may have.
      def other_allowed? = (@now.least..@now.most).any? { |count| count != @now.threads_count }

      def refused?(to) = @now.refused.fetch(to, 0) > @now.at_s

      def resting(to)
        return unless @now.step_s
        direction = direction_to(to)
        left_s = @now.step_s + rests(direction) * @cool_down_s - @now.at_s
        return Statement.of(:resting, seconds: left_s, to:) if left_s > 0
        needed_count = (REQUESTS_PER_MIN * @cool_down_s / 60.0).round
        return if @now.served_count >= needed_count
        Statement.of(:few_requests, requests_count: @now.served_count, needed_count:, to:)
      end

      # All workers are to have it.
      def short_of_memory(to)
        used_bytes, limit_bytes = @now.memory_bytes, @now.memory_limit_bytes
        return if Plan.bears?((to - @now.threads_count) * @now.workers_count, used_bytes:, limit_bytes:)
        Statement.of(:memory, to:, used_bytes:, limit_bytes:)
      end

      def rests(direction)
        return BACK_RESTS unless direction == @now.direction
        (direction > 0) ? UP_RESTS : DOWN_RESTS
      end
    end
  end
end
