# frozen_string_literal: true

module Accuracy
  # The probe's targets. Pure.
  module Judge
    PART_TARGET_PERCENT = 1.0
    RESIDUAL_TARGET_PERCENT = 0.5

    # beyond_percent: by how much even the best round goes beyond the truth's own doubt; nil without any sample
    # note: what came instead of a number
    Verdict = Data.define(:condition, :workload, :what, :target_percent, :beyond_percent, :note) do
      def missed? = !note.nil? || beyond_percent > target_percent
    end

    class << self
      # @param results [Results]
      # @param conditions [Array<String>]
      # @param workloads [Array<String>]
      # @return [Array<Verdict>] parts are judged on an idle machine only: elsewhere the truth is too coarse
      def verdicts(results, conditions:, workloads:)
        conditions.product(workloads).flat_map do |condition, workload|
          samples = results.samples(condition, workload, Tools::OURS)
          parts = (condition == "idle") ? Truth::PARTS : []
          judged = samples.empty? ? [] : [*parts.map { |part| [part.to_s, part] }, ["residual", nil]]
          [*failed(results, condition, workload),
            *judged.map { |what, part| verdict(condition, workload, what, samples.map { |sample| beyond(sample, part) }) }]
        end
      end

      private

      def verdict(condition, workload, what, beyond)
        target_percent = (what == "residual") ? RESIDUAL_TARGET_PERCENT : PART_TARGET_PERCENT
        best = beyond.compact.min
        Verdict.new(condition:, workload:, what:, target_percent:, beyond_percent: best, note: ("not told" unless best))
      end

      def beyond(sample, part)
        return sample.residual_percent&.abs unless part
        error = sample.error_percent(part)
        [error.abs - sample.doubt_percent(part), 0.0].max if error
      end

      # A crash is a miss, however many rounds went well.
      def failed(results, condition, workload)
        results.failures(condition, workload, Tools::OURS).map(&:kind).tally.map do |kind, count|
          note = "#{kind} #{count} times"
          Verdict.new(condition:, workload:, what: "every run", target_percent: 0, beyond_percent: nil, note:)
        end
      end
    end
  end
end
