# frozen_string_literal: true

module PumaTuner
  module Report
    # Two profiles' differences as people read them, the same in every format.
    class CostDiffFigures
      Row = Data.define(:name, :before, :after, :difference, :ratio, :outcome)

      # @param diff [Profile::CostDiff]
      def initialize(diff)
        @diff = diff
      end

      # @param time [String] "before" or "after"
      # @return [String]
      def sentence(time)
        facts = @diff.public_send(time)
        counts = [facts["samples_count"] && Figures.counted(facts["samples_count"], "sample"),
          facts["work_count"] && @diff.per && Figures.counted(facts["work_count"], @diff.per)].compact
        "#{facts["target"]} (#{facts["profiler"]}#{"; #{counts.join(", ")}" if counts.any?})"
      end

      # @return [Hash{String => Array<Row>}] by their titles; those in which nothing is are left out
      def tables
        {
          "Methods, by what they took themselves#{per}" => rows(@diff.methods, method(:amount)),
          "Calls#{per}" => rows(@diff.calls.reject { |one| one.outcome == :same }, method(:count)),
          "Objects, by class and file#{per}" => rows(@diff.allocations.reject { |one| one.outcome == :same }, method(:count))
        }.reject { |_, rows| rows.empty? }
      end

      # @param one [Profile::MethodDiff]
      # @return [String] "12.3 ms -> 10.1 ms, 0.82x (0.79–0.85), cheaper"
      def change(one) = "#{amount(one.before)} → #{amount(one.after)}#{", #{Figures.ratio(one.ratio)}" if one.ratio}, #{Figures.outcome(one.outcome)}"

      # @return [String]
      def notes
        [
          ("Outcomes of samples hold for all methods together, by chance once in twenty such comparisons; samples are taken as independent." if @diff.before["samples_count"]),
          *Unknowns.of(@diff.unknown).map { |name, reason| "Not known: #{name}, as #{reason}." }
        ].compact.join(" ")
      end

      private

      def per = @diff.per ? ", per #{@diff.per}" : ""

      def rows(diffs, words)
        diffs.map do |one|
          sign = one.difference.positive? ? "+" : ""
          Row.new(name: one.name, before: words.call(one.before), after: words.call(one.after), difference: "#{sign}#{words.call(one.difference)}",
            ratio: one.ratio ? ratio(one.ratio) : "-", outcome: one.outcome)
        end
      end

      def ratio(estimate) = estimate.level_ratio ? Figures.ratio(estimate) : Units.times(estimate.value)

      # Where nobody counted the work, an amount is a share.
      def amount(number)
        return "-" unless number
        @diff.per ? CostFigures.amount(@diff.unit, number) : "#{Figures.share(number)}%"
      end

      def count(number) = number ? CostFigures.amount("events", number) : "-"
    end
  end
end
