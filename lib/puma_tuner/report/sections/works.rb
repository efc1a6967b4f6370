# frozen_string_literal: true

module PumaTuner
  module Report
    module Sections
      # Where the time of endpoints, or of jobs, went.
      class Works < Base
        # The busiest endpoints, or kinds of job, one by one, and the rest as one.
        #
        # name: of the endpoint, or "12 others"; latency: histograms add up, so that the others have quantiles, too
        Group = Data.define(:name, :requests_count, :budget, :latency, :p50_ns, :p99_ns)

        MOST = {brief: 12, text: 12, markdown: 12, html: 50}.freeze

        # Of the latency, beside p50 and p99.
        QUANTILES = {"p90" => 0.9, "p99.9" => 0.999, "max" => 1.0}.freeze

        # With fewer, p99.9 would be the maximum under another name.
        LEAST_FOR_P999 = 1_000

        # Id and title of the section.
        TITLES = {
          "request" => ["endpoints",
            "Endpoints: where a request's time went, in % of the time from Puma's queue to the end of the response"],
          "job" => ["jobs", "Jobs: where their time went, in % of the time from start to end"]
        }.freeze

        # Of their names, and of how many they were.
        HEADINGS = {"request" => %w[endpoint requests], "job" => %w[job runs]}.freeze

        READINGS = {
          "request" => "each bar is the time of an endpoint's requests, from being queued in Puma to the end of the " \
            "response, split into what they were doing; numbers inside are percent. Long queue asks for more threads " \
            "or workers, long gvlwait for more workers or fewer threads, long lock for a larger pool or a lock that " \
            "is held for less long, and cpu for faster code.",
          "job" => "each bar is the time of one kind of job, from beginning to end, split into what it was doing. " \
            "Jobs in the process that serves requests hold the GVL that those wait for: see who held it, below."
        }.freeze
        OF_ALL = ", also in percent of all time"
        BEFORE_PUMA = "mean from the proxy to Puma, by the proxy's clock; not in the latency"
        private_constant :OF_ALL, :BEFORE_PUMA, :MOST, :QUANTILES, :LEAST_FOR_P999, :READINGS, :TITLES, :HEADINGS

        class << self
          # @param works [Array<Probe::EndpointObservation>]
          # @param rows_max [Integer]
          # @return [Array<Group>] by requests, the rest last
          def groups(works, rows_max)
            sorted = works.sort_by { |work| [-work.requests_count, work.name] }
            shown = (sorted.size > rows_max) ? sorted.first(rows_max - 1) : sorted
            rest = sorted.drop(shown.size)
            groups = shown.map { |work| Group.new(**work.to_h.slice(*Group.members)) }
            groups << together(rest) if rest.any?
            groups
          end

          private

          def together(works)
            latency = works.map(&:latency).reduce(:+)
            Group.new(name: "#{works.size} others", requests_count: works.sum(&:requests_count),
              budget: works.map(&:budget).reduce(:+), latency:, p50_ns: latency.quantile_ns(0.5),
              p99_ns: latency.quantile_ns(0.99))
          end
        end

        # @param works [Array<Probe::EndpointObservation>]
        # @param noun [String] what they are made of, "request" or "job"
        def initialize(works, noun = "request")
          @works = works
          @noun = noun
          @headings = HEADINGS.fetch(noun)
          @possible_parts = Parts.possible(queue: noun == "request")
        end

        # @return [Blocks::Section, nil]
        def section
          return if @works.empty?
          id, title = TITLES.fetch(@noun)
          pictures = [Figure.new(id: "#{@noun.sub("request", "endpoint")}-budgets",
            blocks: [Chart.new(:works, [@works, @headings, @possible_parts])], reading: READINGS.fetch(@noun)),
            *(latencies if @noun == "request")]
          Section.new(id:, title:, brief: :alone, open: true,
            blocks: [*pictures, Folded.new("The same in numbers", [table]), Note.new([*notes, *left_out].join(" "))])
        end

        # @return [Array<String>] what is to be said of all, in sentences
        def notes = [quantiles, *facts]

        # @return [Array<String>] those that are there only where there is something to say
        def facts = [*Parts.sentences(@works.map(&:budget).reduce(:+)), before_puma, unaccounted].compact

        private

        def latencies
          Figure.new(id: "latencies", title: "How the latency is spread", blocks: [Chart.new(:latency, @works)],
            reading: "each hill is one of the busiest endpoints, as high as its requests were many that took so " \
              "long, each to its own scale; the two lines through it are p50 and p99. Two humps are two kinds of " \
              "requests under one name, such as hits and misses of a cache; a long slope to the right is waiting. " \
              "The scale is logarithmic.")
        end

        def table
          groups = Works.groups(@works, @works.size)
          caption = "Latency in ms (p99.9 of #{Figures.count(LEAST_FOR_P999)} #{@noun}s and more); parts in percent " \
            "of the #{@noun}s' time, which make 100 with the residual"
          Table.new(columns:, rows: groups.map { |group| row(group) }, caption:, sortable: true, style: "dense numbers",
            most: MOST, rest: ->(count) { row(Works.groups(@works, count + 1).last) })
        end

        def columns
          name, times = @headings
          [Column.new(name), Column.new(times, :count), Column.new("p50", :duration),
            Column.new("p90", :duration, page: true), Column.new("p99", :duration),
            *%w[p99.9 max].map { |quantile| Column.new(quantile, :duration, page: true) },
            *parts.seen.map { |part| Column.new(part.word, :share, part.meaning) },
            *inside.map { |part| Column.new(part.heading, :share, "#{part.meaning}#{OF_ALL}", page: true) },
            *(Column.new("before Puma", :duration, BEFORE_PUMA, page: true) if stamped.any?)]
        end

        def row(group)
          budget = group.budget
          Row.new([group.name, group.requests_count, group.p50_ns, quantile(group, "p90"), group.p99_ns,
            quantile(group, "p99.9"), quantile(group, "max"),
            *parts.seen.map { |part| share(group, part) }, *inside.map { |part| budget.share_ratio(part.name) },
            *([budget.before_puma_ns&.fdiv(group.requests_count)] if stamped.any?)])
        end

        def quantile(group, name)
          return if name == "p99.9" && group.requests_count < LEAST_FOR_P999
          group.latency.quantile_ns(QUANTILES.fetch(name))
        end

        # Of io also what it was for, in a mean one of the group.
        def share(group, part)
          ratio = Parts.ratio(group.budget, part)
          io = Parts.io(group.budget, group.requests_count) if part.name == :io
          io ? Cell.new(ratio, note: io, title: io) : ratio
        end

        def parts = @parts ||= Parts.sort(@works.map(&:budget), @possible_parts)

        def inside = @inside ||= Parts.inside(@works.map(&:budget))

        def stamped = @stamped ||= @works.select { |work| work.budget.before_puma_ns }

        def quantiles = "p50 and p99 come from a histogram of all #{@noun}s, accurate to " \
          "±#{Units.percent(Probe::Histogram::RELATIVE_ERROR)}."

        # Endpoints without the proxy's stamp, such as its own health checks, have no say in it.
        def before_puma
          return if stamped.empty?
          mean_ns = stamped.sum { |work| work.budget.before_puma_ns }.fdiv(stamped.sum(&:requests_count))
          "Before Puma: mean #{Units.duration(mean_ns)} per #{@noun} (by the proxy's clock)."
        end

        # Theirs are a fault of the probe's. That there are none shows little: see docs/internals/probe.md.
        def unaccounted
          unaccounted_count = @works.filter_map(&:unaccounted_count).sum
          return if unaccounted_count.zero?
          all_count = @works.sum(&:requests_count)
          "#{Figures.count(unaccounted_count)} of #{Figures.counted(all_count, @noun)} " \
            "(#{Units.percent(unaccounted_count.fdiv(all_count))}) have parts that do not add up to their wall time " \
            "within 1%."
        end

        def left_out
          io = @works.any? { |work| Parts.io(work.budget, work.requests_count) }
          [*("The io lines are means per #{@noun}." if io),
            *{"Below 0.1% everywhere" => parts.unseen, "Unknown (see Details)" => parts.unknown}
              .filter_map { |label, some| "#{label}: #{Figures.list(some.map(&:word))}." if some.any? }]
        end
      end
    end
  end
end
