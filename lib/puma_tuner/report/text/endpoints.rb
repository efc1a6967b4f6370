# frozen_string_literal: true

module PumaTuner
  module Report
    class Text
      # Where each endpoint's requests spent their time.
      class Endpoints < Section
        ROWS_MAX = 12

        private

        def shown? = works&.any?

        def works = @contents.observation&.endpoints

        def heading = "Endpoints: where a request's time went, in % of the time from being queued in Puma to the end"

        def headings = %w[endpoint requests]

        def possible_parts = Parts.possible

        def noun = "request"

        def lines
          groups = EndpointGroups.of(works, ROWS_MAX)
          parts = Parts.sort(groups.map(&:budget), possible_parts)
          name, *numbers = [*headings, "p50 ms", "p99 ms", *parts.seen.map(&:word)]
          rows = groups.map { |group| numbers(group, parts.seen) }
          room = name_room([numbers, *rows])
          table = table([name, *numbers])
          groups.zip(rows) { |group, row| table << [shortened(group.name, room), *row] }
          headings, *lines = table.lines
          ios = groups.map { |group| Parts.io(group.budget, group.requests_count) }
          [headings, *lines.zip(ios).flat_map { |line, io| [line, *io_line(io)] }, *note([*notes(ios), *left_out(parts)].join(" "))]
        end

        # Beneath its row.
        def io_line(io) = ([@paint.call("#{Table::INDENT * 2}io: #{io}", :dim)] if io)

        def notes(ios) = [*WorkNotes.new(works, noun:).all, *("What io was for: mean per #{noun}." if ios.any?)]

        def numbers(group, parts)
          [Figures.count(group.requests_count), Units.milliseconds(group.p50_ns), Units.milliseconds(group.p99_ns),
            *parts.map { |part| Figures.share(Parts.ratio(group.budget, part)) }]
        end

        def left_out(parts)
          {"Below 0.1% everywhere" => parts.unseen, "Unknown, as the small print says" => parts.unknown}
            .filter_map { |label, some| "#{label}: #{Figures.list(some.map(&:word))}." if some.any? }
        end
      end
    end
  end
end
