# frozen_string_literal: true

module PumaTuner
  module CLI
    # What came of a load, for a person.
    class LoadText
      # Fewer answers say little of the slowest hundredth, and nothing of the slowest thousandth.
      ENOUGH_FOR_P99 = 1_000
      ENOUGH_FOR_P999 = 10_000

      # A generator this late beside the median latency, or this busy, is part of what it measures.
      LATE_RATIO = 0.05
      BUSY_RATIO = 0.8

      # Little's law holds up to this, beside what was still on its way at the end.
      LAW_TOLERANCE_RATIO = 0.02

      FIGURES = Report::Figures

      # @param result [Load::SelfTest::Result]
      # @return [String]
      def self.self_test(result)
        table = Report::Columns.new(["", "truth", "reported", "<"])
        result.lines.each do |line|
          table << [line.name, Units.duration(line.true_ns), Units.duration(line.reported_ns),
            line.right? ? "right" : "WRONG"]
        end
        table << ["requests", FIGURES.count(Load::SelfTest::REQUESTS_COUNT), FIGURES.count(result.answered_count),
          result.complete? ? "right" : "WRONG"]
        again = " (#{result.disturbance}: run it again)" if result.disturbance
        verdict = result.right? ? "The generator tells the truth." : "The generator is wrong#{again}."
        "#{[*table.lines, "", "Right is within 2%, or 1 ms. #{verdict}"].join("\n")}\n"
      end

      # @param outcome [Load::Outcome]
      # @param url [String]
      # @param traffic [Load::Traffic]
      def initialize(outcome, url:, traffic:)
        @outcome = outcome
        @url = url
        @arrivals = traffic.arrivals
        @seed = traffic.seed
      end

      # @return [String]
      def to_s = "#{[*head, "", *percentiles, "", *facts, *remarks].join("\n")}\n"

      private

      def head
        most = "#{"at most " if @arrivals.open?}#{FIGURES.counted(@outcome.connections_count, "connection")}"
        ["#{@url}: #{FIGURES.counted(@outcome.counted_count, "answer")} in #{Units.duration(@outcome.duration_ns)}, " \
          "#{FIGURES.count(@outcome.throughput_per_s.round)}/s",
          "  #{@arrivals}, #{most}, seed #{@seed}; #{@outcome.generator}"]
      end

      def percentiles
        table = Report::Columns.new(["", "p50", "p90", "p99", "p99.9", "max"])
        p999_ns = @outcome.p999_ns if enough?
        table << ["latency", *durations(@outcome.p50_ns, @outcome.p90_ns, @outcome.p99_ns, p999_ns, @outcome.max_ns)]
        {"service time" => @outcome.service, "own lateness" => @outcome.lag}
          .each { |name, histogram| table << [name, *quantiles(histogram)] if histogram }
        table.lines
      end

      def enough? = @outcome.counted_count >= ENOUGH_FOR_P999

      def quantiles(histogram)
        durations(*[0.5, 0.9, 0.99].map { |ratio| histogram.quantile_ns(ratio) },
          enough? ? histogram.quantile_ns(0.999) : nil, histogram.quantile_ns(1.0))
      end

      def durations(*all_ns) = all_ns.map { |ns| Units.duration(ns) }

      def facts
        rows = {
          "settling" => settling, "after the end" => drained, "statuses" => statuses,
          "unexpected" => unexpected, "due" => due,
          "connections" => @outcome.connections_made_count&.then { |count| "#{FIGURES.count(count)} made" },
          "generator" => generator, "Little's law" => law
        }.compact
        width = rows.keys.map(&:length).max
        rows.map { |name, text| "  #{name.ljust(width)}  #{text}" }
      end

      def settling
        return unless @outcome.settling_ns
        "#{Units.duration(@outcome.settling_ns)} until #{who_was_answered}; " \
          "the #{FIGURES.counted(@outcome.in_time_count - @outcome.counted_count, "answer")} until then count in no " \
          "other figure but statuses and CPU"
      end

      # Of an open loop they count as all others do.
      def drained
        return if @arrivals.open? || !@outcome.drained_count&.positive?
        "#{FIGURES.counted(@outcome.drained_count, "answer")} to what was under way then; " \
          "they count in statuses and CPU, too"
      end

      def who_was_answered
        all_count, unmet_count = @outcome.connections_count, @outcome.unmet_count
        return "each connection had had an answer" if unmet_count.zero?
        "it was waited no longer for #{unmet_count} of #{FIGURES.counted(all_count, "connection")} without an answer"
      end

      def statuses
        if @outcome.statuses.any?
          @outcome.statuses.map { |status, count| "#{status}: #{FIGURES.count(count)}" }.join(", ")
        end
      end

      def unexpected
        parts = [[@outcome.unexpected_count, "answers"],
          [@outcome.socket_errors_count, "connections broken or refused"],
          [@outcome.unanswered_count.to_i, "without an answer"]]
        said = parts.filter_map { |count, what| "#{FIGURES.count(count)} #{what}" if count.positive? }
        said.join(", ") if said.any?
      end

      def due
        return unless @outcome.intended_count
        "#{FIGURES.count(@outcome.intended_count)}, of which #{FIGURES.count(@outcome.held_back_count)} found all " \
          "connections busy and were held back"
      end

      def busy_ratio = @outcome.generator_cpu_ns&.fdiv(@outcome.sending_ns)

      def generator
        return unless @outcome.generator_cpu_ns && @outcome.requests_count.positive?
        "#{Units.duration(@outcome.generator_cpu_ns.fdiv(@outcome.requests_count))} of CPU per request, " \
          "#{Units.percent(busy_ratio)} of a core"
      end

      # Of a tool that tells no latency of each answer, the mean is this law, and can't be checked by it.
      def law
        return if @arrivals.open? || !@outcome.latency || @outcome.counted_count.zero?
        busy = @outcome.throughput_per_s * (@outcome.mean_ns + @arrivals.think_ns).fdiv(Units::NS_PER_S)
        think_time = " and #{Units.duration(@arrivals.think_ns)} of think time" if @arrivals.think_ns.positive?
        doubt = ": the figures do not fit together" unless law_holds?(busy)
        "#{FIGURES.count(@outcome.throughput_per_s.round)}/s x #{Units.duration(@outcome.mean_ns)}#{think_time} = " \
          "#{Units.significant(busy)} of #{@outcome.connections_count} connections#{doubt}"
      end

      def law_holds?(busy)
        unfinished_ratio = (@outcome.mean_ns + @arrivals.think_ns).fdiv(@outcome.duration_ns)
        (busy.fdiv(@outcome.connections_count) - 1).abs <= LAW_TOLERANCE_RATIO + unfinished_ratio
      end

      def remarks
        list = @outcome.remarks.map { |remark| "#{remark}." }
        if @outcome.counted_count.between?(1, ENOUGH_FOR_P99 - 1)
          list << "p99 of so few answers says little; from #{FIGURES.count(ENOUGH_FOR_P99)} on it does."
        end
        if late?
          list << "The generator itself was late, by more than a twentieth of the median " \
            "latency: these are its figures, too."
        end
        if (busy_ratio || 0) > BUSY_RATIO
          list << "The generator was busy nearly all the time: it may be what bounds the throughput."
        end
        list.empty? ? [] : ["", *list]
      end

      def late? = @outcome.lag_p99_ns && @outcome.p50_ns && @outcome.lag_p99_ns > @outcome.p50_ns * LATE_RATIO
    end
  end
end
