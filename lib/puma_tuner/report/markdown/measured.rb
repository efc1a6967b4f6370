# frozen_string_literal: true

module PumaTuner
  module Report
    class Markdown
      # An observation's tables.
      class Measured
        HOLDERS_MAX = 4

        # @param observation [Probe::Observation]
        def initialize(observation)
          @observation = observation
        end

        # @return [Array<Table>] without those that have nothing to show
        def tables = [endpoints, jobs, holders, background].compact

        private

        def endpoints
          works("Where the time went", @observation.endpoints, %w[endpoint requests], Parts.possible,
            WorkNotes.new(@observation.endpoints))
        end

        def jobs
          works("Where the time of jobs went", @observation.jobs, %w[job times], Parts.possible(queue: false),
            WorkNotes.new(@observation.jobs, noun: "job"))
        end

        def works(title, works, headings, possible_parts, notes)
          return if works.empty?
          groups = EndpointGroups.of(works, ROWS_MAX)
          parts = Parts.sort(groups.map(&:budget), possible_parts)
          rows = groups.map do |group|
            [group.name, Figures.count(group.requests_count), Units.duration(group.p50_ns), Units.duration(group.p99_ns),
              *parts.seen.map { |part| share(group, part) }]
          end
          Table.new(title:, headings: [*headings, "p50", "p99", *parts.seen.map(&:word)], rows:,
            notes: [*notes.all, *unknown(parts)])
        end

        # Of io also what it was for, in a mean one of the group.
        def share(group, part)
          io = Parts.io(group.budget, group.requests_count) if part.name == :io
          "#{Units.percent(Parts.ratio(group.budget, part))}#{" (#{io})" if io}"
        end

        # Why is told where something is missing, and only there: a comment has no small print.
        def unknown(parts)
          return [] if parts.unknown.empty?
          reasons = Unknowns.of(@observation.unknown).map { |name, reason| "#{name}: #{reason}." }
          ["Unknown: #{Figures.list(parts.unknown.map(&:word))}.", *reasons]
        end

        def holders
          holders = GvlHolders.new(@observation)
          return unless holders.any?
          shown = holders.rows.first(ROWS_MAX)
          shown << holders.all if holders.rows.size > 1
          rows = shown.map { |row| [row.name, Units.duration(row.per_request_ns), row.slices, row.long_holds, shares(row)] }
          Table.new(title: "Who held the GVL while others waited for it", rows:,
            headings: ["endpoint", "gvlwait per request", "slices", "long holds", "of that wait, held by"],
            notes: ["Slices: time slices that ended in an endpoint's own requests; long holds: of 10 ms or more; both per 100."])
        end

        def shares(row) = row.largest(HOLDERS_MAX).map { |name, ratio| "#{name} #{Units.percent(ratio)}" }.join(", ")

        def background
          rows = Background.rows(@observation).first(ROWS_MAX).map do |row|
            [row.name, *[row.gvl, row.cpu, row.gc, row.gvl_wait].map { |ratio| Units.percent(ratio) }]
          end
          return if rows.empty?
          Table.new(title: "Threads that serve no requests", headings: %w[thread cpu+gc cpu gc gvlwait], rows:,
            notes: ["Of #{Background.whole(@observation)}."])
        end
      end
    end
  end
end
