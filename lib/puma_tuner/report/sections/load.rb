# frozen_string_literal: true

module PumaTuner
  module Report
    module Sections
      # What came of a load.
      class Load < Base
        # Fewer responses say little of the slowest hundredth, and nothing of the slowest thousandth.
        ENOUGH_FOR_P99 = 1_000
        ENOUGH_FOR_P999 = 10_000

        # A generator this late beside the median latency, or this busy, is part of what it measures.
        LATE_RATIO = 0.05
        BUSY_RATIO = 0.8

        # Little's law holds up to this, beside what was still on its way at the end.
        LAW_TOLERANCE_RATIO = 0.02

        QUANTILES = {"p50" => 0.5, "p90" => 0.9, "p99" => 0.99, "p99.9" => 0.999, "max" => 1.0}.freeze
        private_constant :ENOUGH_FOR_P99, :ENOUGH_FOR_P999, :LATE_RATIO, :BUSY_RATIO, :LAW_TOLERANCE_RATIO, :QUANTILES

        # @param outcome [Load::Outcome]
        def initialize(outcome)
          @outcome = outcome
        end

        # @return [Blocks::Page]
        def page
          Page.new(title:, conditions:, kicker: "PumaTuner load", parts: [
            Part.new(id: "latency", title: "Latency", sections: [latency]),
            Part.new(id: "responses", title: "Responses", sections: [responses]),
            Part.new(id: "doubts", title: "Doubts", sections: [doubts])
          ])
        end

        private

        def title
          "#{"#{@outcome.url}: " if @outcome.url}#{Figures.counted(@outcome.counted_count, "response")} in " \
            "#{Units.duration(@outcome.duration_ns)}, #{per_s}"
        end

        def conditions
          most = "#{"at most " if @outcome.open?}#{Figures.counted(@outcome.connections_count, "connection")}"
          "#{[*@outcome.arrivals, most, *("seed #{@outcome.seed}" if @outcome.seed)].join(", ")}; #{@outcome.generator}"
        end

        def per_s = "#{Figures.count(@outcome.throughput_per_s.round)}/s"

        def latency
          rows = {"latency" => told, "service time" => of(@outcome.service), "own lateness" => of(@outcome.lag)}.compact
          columns = [Column.new(""), *QUANTILES.keys.map { |name| Column.new(name, :duration_with_unit) }]
          Section.new(id: "latency", title: "Latency",
            blocks: [Table.new(columns, rows.map { |name, values_ns| Row.new([name, *values_ns]) }, style: "dense"),
              *goals])
        end

        def goals
          return if @outcome.attainments.empty?
          Labelled.new(@outcome.attainments.to_h { |one| [one.goal.to_s, GoalWords.attainment(one)] })
        end

        def told
          [@outcome.p50_ns, @outcome.p90_ns, @outcome.p99_ns, (@outcome.p999_ns if enough_for_p999?), @outcome.max_ns]
        end

        # @param histogram [Probe::Histogram, nil]
        def of(histogram)
          return unless histogram
          QUANTILES.map { |name, ratio| histogram.spread_quantile_ns(ratio) if name != "p99.9" || enough_for_p999? }
        end

        def enough_for_p999? = @outcome.counted_count >= ENOUGH_FOR_P999

        def responses
          rows = {
            "settling" => settling, "after the end" => drained, "statuses" => statuses, "unexpected" => unexpected,
            "due" => due,
            "connections" => @outcome.connections_made_count&.then { |count| "#{Figures.count(count)} made" },
            "generator" => generator, "Little's law" => law
          }
          Section.new(id: "responses", title: "Responses", blocks: [Labelled.new(rows)])
        end

        def settling
          return unless @outcome.settling_ns
          "#{Units.duration(@outcome.settling_ns)} until #{who_was_answered}; " \
            "the #{Figures.counted(@outcome.in_time_count - @outcome.counted_count, "response")} until then count in " \
            "no other figure but statuses and CPU"
        end

        def who_was_answered
          all_count, unmet_count = @outcome.connections_count, @outcome.unmet_count
          return "each connection had a response" if unmet_count.zero?
          "it gave up on #{unmet_count} of #{Figures.counted(all_count, "connection")} that had no response"
        end

        # Of an open loop they count as all others do.
        def drained
          return if @outcome.open? || !@outcome.drained_count&.positive?
          "#{Figures.counted(@outcome.drained_count, "response")} to requests that were in flight then; " \
            "they count in statuses and CPU, too"
        end

        def statuses = @outcome.statuses.map { |status, count| "#{status}: #{Figures.count(count)}" }.join(", ")

        def unexpected
          parts = {"responses" => @outcome.unexpected_count,
                   "connections broken or refused" => @outcome.socket_errors_count,
                   "without a response" => @outcome.unanswered_count.to_i}
          parts.filter_map { |what, count| "#{Figures.count(count)} #{what}" if count.positive? }.join(", ")
        end

        def due
          return unless @outcome.open?
          "#{Figures.count(@outcome.intended_count)}, of which #{Figures.count(@outcome.connection_wait_count)} " \
            "had to wait for a connection"
        end

        def busy_ratio = @outcome.generator_cpu_ns&.fdiv(@outcome.sending_ns)

        def generator
          return unless @outcome.generator_cpu_ns && @outcome.requests_count.positive?
          "#{Units.duration(@outcome.generator_cpu_ns.fdiv(@outcome.requests_count))} of CPU per request, " \
            "#{Units.percent(busy_ratio)} of a core"
        end

        # Of a tool that tells no latency of each response, the mean is this law, and can't be checked by it.
        def law
          return if @outcome.open? || !@outcome.latency || @outcome.counted_count.zero?
          busy = @outcome.throughput_per_s * (@outcome.mean_ns + think_ns).fdiv(Units::NS_PER_S)
          think_time = " and #{Units.duration(think_ns)} of think time" if think_ns.positive?
          doubt = ": the figures do not fit together" unless law_holds?(busy)
          "#{per_s} x #{Units.duration(@outcome.mean_ns)}#{think_time} = " \
            "#{Units.significant(busy)} of #{@outcome.connections_count} connections#{doubt}"
        end

        def law_holds?(busy)
          unfinished_ratio = (@outcome.mean_ns + think_ns).fdiv(@outcome.duration_ns)
          (busy.fdiv(@outcome.connections_count) - 1).abs <= LAW_TOLERANCE_RATIO + unfinished_ratio
        end

        def think_ns = @outcome.think_ns.to_i

        def doubts
          notes = [*@outcome.remarks.map { |remark| "#{remark}." }, behind, few, late, busy].compact
          Section.new(id: "doubts", title: "Doubts", blocks: notes.map { |text| Paragraph.new(text) })
        end

        def behind
          return unless @outcome.fell_behind?
          "When the load ended, #{Figures.count(@outcome.left_count)} of #{Figures.count(@outcome.intended_count)} " \
            "requests that were due had no response: #{who_fell_behind} does not keep up with this rate, so the " \
            "queue grew to the end, and a longer load would have longer latencies."
        end

        # Nobody can tell whether more connections would help.
        def who_fell_behind
          return "the server" unless @outcome.connection_wait_count.to_i.positive?
          "the server, over at most #{Figures.counted(@outcome.connections_count, "connection")} (--connections),"
        end

        def few
          return unless @outcome.counted_count.between?(1, ENOUGH_FOR_P99 - 1)
          "p99 of so few responses says little: it takes #{Figures.count(ENOUGH_FOR_P99)}."
        end

        def late
          return unless @outcome.lag_p99_ns && @outcome.p50_ns && @outcome.lag_p99_ns > @outcome.p50_ns * LATE_RATIO
          "The generator itself was late, by more than a twentieth of the median latency: these figures include its " \
          "own delay."
        end

        def busy
          return unless (busy_ratio || 0) > BUSY_RATIO
          "The generator was busy nearly all the time: it may be what limits the throughput."
        end
      end

      # Whether the generator tells the truth.
      class SelfTest < Base
        # @param result [Load::SelfTest::Result]
        def initialize(result)
          @result = result
        end

        # @return [Blocks::Page]
        def page
          again = " (#{disturbance}: run it again)" if @result.disturbed.any?
          title = @result.right? ? "The generator tells the truth" : "The generator is wrong#{again}"
          Page.new(title:, kicker: "PumaTuner self-test", parts: [
            Part.new(id: "truth", title: "The truth, and what was reported", sections: [lines])
          ])
        end

        private

        def lines
          columns = [Column.new(""), *%w[truth reported].map { |name| Column.new(name, :figure) }, Column.new("")]
          rows = @result.lines.map do |line|
            Row.new([line.name, Units.duration(line.true_ns), Units.duration(line.reported_ns), verdict(line.right?)])
          end
          rows << Row.new(["requests", Figures.count(@result.requests_count), Figures.count(@result.answered_count),
            verdict(@result.complete?)])
          Section.new(id: "truth", title: "The truth, and what was reported",
            blocks: [Table.new(columns, rows, style: "dense"), Note.new("Right is within 2%, or 1 ms.")])
        end

        def verdict(right) = right ? "right" : "WRONG"

        def disturbance = @result.disturbed.map { |who, ns| "the #{who} was #{Units.duration(ns)} late" }.join(", ")
      end
    end
  end
end
