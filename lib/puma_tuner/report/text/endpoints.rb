# frozen_string_literal: true

module PumaTuner
  module Report
    class Text
      # Where each endpoint's requests spent their time.
      class Endpoints < Section
        ROWS_MAX = 12

        # Of a name at least this much is shown, even where the line gets longer for it.
        NAME_LENGTH_MIN = 16

        private

        def shown? = @contents.observation&.endpoints&.any?

        def heading = "Endpoints: where a request's time went, in % of the time from being queued in Puma to the end"

        def lines
          parts, unseen = Parts.seen_and_unseen(groups.map(&:budget))
          headings = ["requests", "p50 ms", "p99 ms", *parts.map(&:word)]
          table = table(["endpoint", *headings])
          # The names take what the numbers leave when these stand close.
          room = WIDTH - Table::INDENT.length - headings.sum { |heading| heading.length + 1 }
          groups.each { |group| table << row(group, parts, [room, NAME_LENGTH_MIN].max) }
          table.lines + notes(unseen)
        end

        def groups = @groups ||= EndpointGroups.of(@contents.observation, ROWS_MAX)

        def row(group, parts, room)
          [shortened(group.name, room), Figures.count(group.requests_count),
            Units.milliseconds(group.p50_ns), Units.milliseconds(group.p99_ns),
            *parts.map { |part| Figures.share(Parts.ratio(group.budget, part)) }]
        end

        def notes(unseen)
          traces_count = @contents.observation.endpoints.sum { |endpoint| endpoint.traces.size }
          recorded = Figures.counted(traces_count, "request")
          sample = "p50 and p99 are of #{recorded} recorded step by step, the rest of all. " if traces_count.positive?
          none = "Below 0.1% everywhere: #{Figures.list(unseen.map(&:word))}." if unseen.any?
          note("#{sample}#{none}")
        end
      end
    end
  end
end
