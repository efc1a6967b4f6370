# frozen_string_literal: true

module PumaTuner
  module Report
    module Sections
      # Two profiles: what got cheaper, and what dearer.
      class CostDiff < Base
        MOST = {brief: 20, text: 20, markdown: 20, html: 150}.freeze

        OF_SAMPLES = "Outcomes of samples hold for all methods together, by chance once in twenty such comparisons; " \
          "samples are taken as independent."

        # As a proof's outcomes are coloured.
        STYLES = {cheaper: :better, gone: :better, dearer: :worse, new: :worse}.freeze
        private_constant :MOST, :OF_SAMPLES, :STYLES

        # @param diff [Profile::CostDiff]
        def initialize(diff)
          @diff = diff
        end

        # @return [Blocks::Page]
        def page
          Page.new(title: "What got cheaper, and what more expensive",
            parts: tables.compact.map { |table| Part.new("by-#{table.id}", table.title, [table]) },
            head: [Labelled.new(points, style: :points), *notes.map { |text| Note.new(text) }])
        end

        private

        def points
          {"before" => profile(@diff.before), "after" => profile(@diff.after), "everything" => change(@diff.total)}
        end

        def profile(facts)
          counts = [facts["samples_count"] && Figures.counted(facts["samples_count"], "sample"),
            facts["work_count"] && @diff.per && Figures.counted(facts["work_count"], @diff.per)].compact
          "#{facts["target"]} (#{facts["profiler"]}#{"; #{counts.join(", ")}" if counts.any?})"
        end

        def change(one)
          ratio = ", #{Figures.ratio(one.ratio)}" if one.ratio
          "#{amount(one.before)} → #{amount(one.after)}#{ratio}, #{Figures.outcome(one.outcome)}"
        end

        def notes
          [
            (OF_SAMPLES if @diff.before["samples_count"]),
            *Unknowns.of(@diff.unknown).map { |name, reason| "Not known: #{name}, as #{reason}." }
          ].compact
        end

        def tables
          per = ", per #{@diff.per}" if @diff.per
          [
            table("methods", "Methods, by self amount#{per}", @diff.methods, method(:amount)),
            table("calls", "Calls#{per}", @diff.calls.reject { |one| one.outcome == :same }, method(:count)),
            table("objects", "Objects, by class and file#{per}",
              @diff.allocations.reject { |one| one.outcome == :same }, method(:count))
          ]
        end

        def table(id, title, diffs, words)
          return if diffs.empty?
          columns = [Column.new("name", length: 52),
            *%w[before after difference ratio].map { |name| Column.new(name, :figure) },
            Column.new("outcome", :outcome)]
          rows = diffs.map do |one|
            sign = "+" if one.difference.positive?
            Row.new([one.name, words.call(one.before), words.call(one.after), "#{sign}#{words.call(one.difference)}",
              ratio(one.ratio), Cell.new(one.outcome, style: STYLES.fetch(one.outcome, :not_shown))])
          end
          Section.new(id:, title:, blocks: [Table.new(columns, rows, caption: "Largest difference first",
            style: "dense", most: MOST)])
        end

        def ratio(estimate)
          return unless estimate
          estimate.level_ratio ? Figures.ratio(estimate) : Units.times(estimate.value)
        end

        # Where nobody counted the work, an amount is a share.
        def amount(number)
          return "-" unless number
          @diff.per ? Sections::Profile.amount(@diff.unit, number) : "#{Figures.share(number)}%"
        end

        # A share, too.
        def count(number)
          return amount(number) unless number && @diff.per
          Sections::Profile.amount("events", number)
        end
      end
    end
  end
end
