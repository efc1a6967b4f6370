# frozen_string_literal: true

module PumaTuner
  module Report
    module Sections
      # Each advice against today's setting: predicted, measured, and which could not be measured by itself.
      class AdviceChecks < Base
        COLUMNS = [Column.new("advice"), Column.new("metric"),
          Column.new("predicted", :ratio, meaning: "over today's, with its interval"),
          Column.new("measured", :ratio, meaning: "over today's in the same rounds, with its interval"),
          Column.new("outcome", :outcome),
          Column.new("as predicted", meaning: "whether the two intervals meet")].freeze

        AS_PREDICTED = {true => "yes", false => "no"}.freeze

        # @param contents [Contents] with checks
        def initialize(contents)
          @checks = contents.checks
        end

        # @return [Blocks::Section, nil]
        def section
          return if @checks.nil? || @checks.empty?
          Section.new(id: "advice-checks", title: "Each advice against today", blocks: [*table, *others])
        end

        private

        def table
          measured = @checks.select(&:measured)
          return [Paragraph.new("Nothing of the advice was measured.")] if measured.empty?
          [Table.new(COLUMNS, measured.map { |check| row(check) })]
        end

        def row(check)
          measured = check.measured
          Row.new([check.variant, ProofWords.metric(measured), measured.predicted, measured.ratio,
            outcome(measured.outcome), AS_PREDICTED.fetch(measured.as_predicted?, "-")])
        end

        def outcome(outcome)
          return Cell.new("failed", style: :worse) if outcome == :fails
          Cell.new(Figures.outcome(outcome), style: outcome)
        end

        def others
          left = @checks.reject(&:measured)
          return [] if left.empty?
          [Paragraph.new("Not measured by itself:"),
            List.new(left.map { |check| "#{check.rule}: #{ProofWords.reason(check.reason)}" })]
        end
      end
    end
  end
end
