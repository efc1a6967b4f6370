# frozen_string_literal: true

module PumaTuner
  module Report
    class Text
      # What the rounds showed, beside what was predicted.
      class Proof < Section
        private

        def shown? = @contents.verdict

        def verdict = @contents.verdict

        def heading = "Proof: measured against #{Figures.printable(verdict.baseline)}"

        def lines = [*paragraph("#{conditions}."), *comparisons, "", *cells]

        def conditions
          "#{Figures.counted(verdict.rounds_count, "round")} of #{Figures.counted(verdict.cells.size, "variant")} in shuffled order (seed " \
            "#{verdict.seed}), each in a fresh process and #{Units.duration(verdict.duration_ns)} under load by #{verdict.generator} with " \
            "#{Figures.counted(verdict.connections_count, "connection")}; " \
            "#{verdict.voided_count.zero? ? "no trial was void" : "#{Figures.counted(verdict.voided_count, "trial")} void and run again"}#{void_reasons}"
        end

        # One void trial voids its round, so there are fewer reasons than void trials.
        def void_reasons
          reasons = verdict.trials.filter_map(&:void_reason).uniq
          " (#{reasons.join("; ")})" if reasons.any?
        end

        def comparisons
          return ["  Nothing could be compared."] if verdict.comparisons.empty?
          table = table(["", "<", "ratio", "predicted", "<outcome"])
          verdict.comparisons.each { |comparison| table << comparison_row(comparison) }
          table.lines + note(level_note)
        end

        def comparison_row(comparison)
          outcome = Figures::OUTCOMES.fetch(comparison.outcome, comparison.outcome)
          predicted = [Units.times(comparison.predicted_ratio), Figures.prediction_held(comparison)].compact.join(", ")
          [
            shortened(comparison.variant, 24), Figures::METRICS.fetch(comparison.metric, comparison.metric), Figures.ratio(comparison.ratio),
            predicted, @paint.call(outcome, Paint::OUTCOMES.fetch(comparison.outcome, :bold))
          ]
        end

        def level_note
          levels = verdict.comparisons.map { |comparison| Figures.level(comparison.ratio) }.uniq
          return "Range of so few rounds: an interval of 95% needs six, so nothing is shown." if levels == ["range"]
          "Variant over #{Figures.printable(verdict.baseline)}, with the #{Figures.list(levels)} over paired rounds, which the prediction is inside " \
            "or outside of. Of latency and CPU, less is better."
        end

        def cells
          table = table(["", "<", "requests/s", "predicted", "p50 ms", "predicted", "p99 ms", "predicted", "CPU ms", "MiB"])
          verdict.cells.each { |cell| table << cell_row(cell) }
          table.lines + note("Measured: middle and range of the rounds. Predicted: its error, predicted over measured.")
        end

        def cell_row(cell)
          [
            shortened(cell.variant, 24), cell.topology.to_s,
            Figures.with_range(cell.throughput_per_s) { |per_s| Units.rate(per_s) },
            predicted(cell, :throughput), Units.milliseconds(cell.p50_ns&.value), predicted(cell, :p50),
            Units.milliseconds(cell.p99_ns&.value), predicted(cell, :p99),
            Units.milliseconds(cell.cpu_per_request_ns&.value), Figures.mib(cell.pss_bytes&.value)
          ]
        end

        def predicted(cell, metric) = Figures.error(Figures.error_ratio(cell, metric))
      end
    end
  end
end
