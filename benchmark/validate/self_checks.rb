# frozen_string_literal: true

require_relative "error_table"

module Validation
  # Did the self-check tell the user? What it said of each recording, beside the errors that its forecasts then had in cells that it knows nothing of. Pure.
  #
  # It is to be silent where errors are within noise and loud where they are not. They are beyond noise where, in the median of the cells, they exceed what the
  # model is usually wrong by, with what the measurement leaves open taken off.
  class SelfChecks
    # Of the model at large: Predict::Uncertainty's.
    USUAL_RATIOS = {throughput: 0.04, p50: 0.10, p99: 0.15}.freeze

    # What was said of one recording. beyond: metrics whose errors are beyond noise
    Said = Data.define(:subject, :at, :loud, :text, :comparisons, :beyond) do
      # @return [Boolean] whether it said what there was
      def right? = loud == beyond.any?

      def outcome
        return "right" if right?
        loud ? "a false alarm" : "**silent**"
      end
    end

    # @param comparisons [Array<Comparison>] of our generator and of wrk
    def initialize(comparisons)
      @comparisons = comparisons
    end

    # @return [Array<Said>] none where this version has no self-check
    def said
      @said ||= @comparisons.select { |comparison| comparison.recorded.self_check.respond_to?(:off) && !comparison.cell.level.wrk? }
        .group_by { |comparison| [comparison.cell.subject, comparison.recorded.at] }.map { |(subject, at), of_recording| one(subject, at, of_recording) }
    end

    # @return [String, nil] in a sentence
    def summary
      return if said.empty?
      loud, silent = said.partition(&:loud)
      "Of #{PumaTuner::Units.counted(said.size, "recording")} it was loud at #{loud.size} (#{loud.count(&:right?)} of them with errors beyond noise) and silent at " \
        "#{silent.size} (#{silent.count(&:right?)} of them with errors within noise)."
    end

    # @return [String, nil]
    def table
      rows = said.map do |one|
        [one.subject.key, one.at.to_s, one.loud ? "loud" : "silent", *USUAL_RATIOS.keys.map { |metric| ErrorTable.statistics(errors(one.comparisons, metric)) },
          one.beyond.any? ? one.beyond.map { |metric| ErrorTable::TITLES.fetch(metric) }.join(", ") : "nothing", one.outcome, one.text]
      end
      Accuracy::Markdown.table(["cells", "recorded at", "it was", *USUAL_RATIOS.keys.map { |metric| "#{ErrorTable::TITLES.fetch(metric)} errors %" }, "beyond noise", "that is", "it said"], rows, left_count: 3) if rows.any?
    end

    private

    def one(subject, at, comparisons)
      check = comparisons.first.recorded.self_check
      figures = check.off.flat_map(&:off).map(&:to_s)
      beyond = USUAL_RATIOS.select { |metric, ratio| errors(comparisons, metric).map(&:least_ratio).then { |ratios| ratios.any? && Judge::MEDIAN.call(ratios) > ratio } }.keys
      Said.new(subject:, at:, loud: figures.any?, text: figures.any? ? figures.join("; ") : "the recording is reproduced", comparisons:, beyond:)
    end

    def errors(comparisons, metric) = comparisons.filter_map { |comparison| comparison.errors[metric] }
  end
end
