# frozen_string_literal: true

module PumaTuner
  module Report
    class Text
      # Where each endpoint's requests spent their time.
      class Endpoints < Section
        ROWS_MAX = 12

        # Of a name at least this much is shown: less would tell nothing.
        NAME_LENGTH_MIN = 8

        private

        def shown? = @contents.observation&.endpoints&.any?

        def heading = "Endpoints: where a request's time went, in % of the time from being queued in Puma to the end"

        def lines
          parts, unseen = Parts.seen_and_unseen(groups.map(&:budget))
          headings = ["requests", "p50 ms", "p99 ms", *parts.map(&:word)]
          table = table(["endpoint", *headings])
          rows = groups.map { |group| numbers(group, parts) }
          room = name_room([headings, *rows])
          groups.zip(rows) { |group, row| table << [shortened(group.name, room), *row] }
          table.lines + notes(unseen)
        end

        # The names take what the numbers leave when these stand close.
        def name_room(rows)
          taken = rows.transpose.sum { |cells| cells.map(&:length).max + 1 }
          [WIDTH - Table::INDENT.length - taken, NAME_LENGTH_MIN].max
        end

        def groups = @groups ||= EndpointGroups.of(@contents.observation, ROWS_MAX)

        def numbers(group, parts)
          [Figures.count(group.requests_count), Units.milliseconds(group.p50_ns), Units.milliseconds(group.p99_ns),
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
