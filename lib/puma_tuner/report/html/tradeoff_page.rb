# frozen_string_literal: true

module PumaTuner
  module Report
    class Html
      # The page of a study of CPU against memory.
      class TradeoffPage < Page
        # @return [Tradeoff::Study]
        def study = @value

        # @return [String]
        def content_html = tradeoff_html

        # @return [TradeoffFigures]
        def figures = @figures ||= TradeoffFigures.new(study)

        # @return [String]
        def title = figures.title

        # @return [TradeoffChart]
        def tradeoff_chart = @tradeoff_chart ||= TradeoffChart.new(study)

        # @return [Hash{String => String}]
        def foundations
          verdict = study.verdict
          {"rounds" => "#{verdict.rounds_count} of #{study.points.size} variants, each in fresh processes, in shuffled order; #{Figures.counted(verdict.voided_count, "trial")} void and run again",
           "load" => verdict.load.arrivals, "machine" => Facts.machine(verdict.machine), "kernel" => verdict.machine.kernel, "begun" => verdict.started_at, "command" => verdict.command,
           "remarks" => (figures.remarks.join(" ") if figures.remarks.any?)}.compact
        end
      end
    end
  end
end
