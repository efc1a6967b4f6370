# frozen_string_literal: true

module PumaTuner
  module Report
    module Sections
      # Where the difference comes from: the mean request of each variant, part by part.
      class Causes < Base
        READING = "each bar is the time of one variant's mean %s, split into what it was doing; all bars are drawn " \
          "to one scale, so that a shorter one took less time. The part that shrank or grew is what the change did; " \
          "where that is queue or gvlwait, others were out of the way sooner or later."
        private_constant :READING

        class << self
          # @param cause [Prove::Cause]
          # @param noun [String] what the budgets are the mean of
          # @return [String] which part the difference is
          def sentence(cause, noun)
            total = cause.total
            span = "#{Units.duration(total.baseline_ns)} to #{Units.duration(total.variant_ns)}"
            if cause.same
              return "The mean #{noun} took the same time within #{Units.percent(Prove::Cause::SAME_WITHIN_RATIO)} " \
                "(#{span}), so there is no part to name."
            end
            return doubt(cause, noun, span) if cause.doubtful
            "#{[headline(cause, noun, span), contrary(cause), behind(cause)].compact.join("; ")}."
          end

          private

          # No cause is better than a wrong one.
          def doubt(cause, noun, span)
            "The rounds showed #{cause.variant} to be #{cause.outcome}, but under the load for the cause the mean " \
              "#{noun} took #{Units.duration(cause.total.difference_ns.abs)} #{less_or_more(cause.total)} (#{span}): " \
              "that load was too short, or the machine too busy, to tell the cause."
          end

          def headline(cause, noun, span)
            main = cause.part(cause.main)
            whole, amount = [cause.total, main].map { |part| Units.duration(part.difference_ns.abs) }
            verb = cause.total.difference_ns.negative? ? "saved" : "added"
            part = Parts.named(cause.main)
            what = "#{part.word} (#{part.meaning})"
            return "Of #{whole} #{verb} per #{noun} (#{span}), #{amount} are #{what}" if main.share_ratio <= 1
            "#{whole} are #{verb} per #{noun} (#{span}): #{amount} #{less_or_more(cause.total)} #{what}"
          end

          def contrary(cause)
            part = cause.part(cause.contrary) or return
            "#{Parts.named(part.part).word} takes #{Units.duration(part.difference_ns.abs)} #{less_or_more(part)}"
          end

          # What made the waiting shorter or longer.
          def behind(cause)
            part = cause.part(cause.behind) or return
            "the waiting follows from the other parts, of which #{Parts.named(part.part).word} changed most, " \
              "by #{Figures.change_ns(part.difference_ns)}"
          end

          def less_or_more(part) = part.difference_ns.negative? ? "less" : "more"
        end

        # @param contents [Contents] with a verdict
        def initialize(contents)
          @contents = contents
          @causes = contents.verdict.causes
        end

        # @return [Blocks::Section, nil]
        def section
          return if @causes.empty?
          figure = Figure.new(id: "cause", blocks: [Chart.new(:variants, @contents)],
            reading: format(READING, @contents.noun))
          Section.new(id: "where-it-comes-from", brief: :never, open: false,
            title: "Cause: where the time of the mean #{@contents.noun} went, and how that changed",
            blocks: [figure, *@causes.flat_map { |cause| blocks(cause, several: @causes.size > 1) }])
        end

        private

        def blocks(cause, several:)
          variant = "#{cause.variant}: " if several
          [Paragraph.new("#{variant}#{Causes.sentence(cause, @contents.noun)}"),
            Folded.new("Part by part#{": #{cause.variant}" if several}", [table(cause), Note.new(note(cause))],
              open: !several)]
        end

        # As a request meets them, without those that neither has anything of.
        def table(cause)
          seen = cause.parts.select do |part|
            least_ns = cause.total.baseline_ns * ThreadLine::LEAST_PRINTED_RATIO
            [part.baseline_ns, part.variant_ns].any? { |ns| ns.abs >= least_ns }
          end
          sorted = seen.sort_by { |part| Parts.possible.index(Parts.named(part.part)) }
          columns = [Column.new("part"), Column.new(@contents.verdict.baseline, :duration_with_unit, short: "baseline"),
            Column.new(cause.variant, :duration_with_unit, short: "variant"),
            Column.new("difference", :change_of_duration), Column.new("share", :percent)]
          Table.new(columns, [*sorted, cause.total].map { |part| row(part) }, style: "dense")
        end

        def row(part)
          name = part.part ? Parts.named(part.part).word : "all"
          Row.new([name, part.baseline_ns, part.variant_ns, part.difference_ns, part.share_ratio || ""],
            style: (:total unless part.part))
        end

        # What the numbers rest on.
        def note(cause)
          words = Parts.possible.map(&:name).intersection(cause.unknown).map { |name| Parts.named(name).word }
          "Of the mean #{@contents.noun}, from a short load with the probe, sent after the load that counts." \
            "#{" Unknown: #{Figures.list(words)}." if words.any?}"
        end
      end
    end
  end
end
