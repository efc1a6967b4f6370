# frozen_string_literal: true

module PumaTuner
  module Top
    # A status in one line, for where there is no terminal: numbers in columns, as vmstat has them, and the diagnosis.
    # What is recommended has a line of its own when it changes.
    class Lines
      PARTS = %i[queue gvl_wait preempted cpu gc io lock sleep].freeze

      HEADINGS = ["req/s", "n", "p50ms", "p99ms", *PARTS.map { |part| "#{Report::Parts.named(part).word}%" }, "busy",
        "MiB"].freeze

      # The headings come again after so many lines.
      EVERY = 20

      LEAST_WIDTH = 6

      def initialize
        @count = 0
      end

      # @param status [Status]
      # @return [Array<String>] a line, after the headings and the recommendation where they are due
      def call(status)
        @count += 1
        [*(row(HEADINGS) if @count % EVERY == 1), *recommended(status), line(status)]
      end

      private

      def recommended(status)
        before, @recommended = @recommended, Report::TopWords.recommendation(status.recommendation)
        "recommended: #{@recommended}" if @recommended && @recommended != before
      end

      def line(status)
        budget = status.requests.map(&:budget).reduce(:+)
        shares = PARTS.map { |part| Report::Figures.share(budget&.share_ratio(part)) }
        row([Units.rate(status.throughput_per_s), status.requests_count.to_s, Units.milliseconds(status.p50_ns),
          Units.milliseconds(status.p99_ns), *shares, busy(status), mebibytes(status)]) +
          "  #{Report::TopWords.sentence(status.diagnosis)}"
      end

      def row(cells)
        cells.zip(HEADINGS).map { |cell, heading| cell.rjust([heading.length, LEAST_WIDTH].max) }.join(" ")
      end

      def busy(status)
        known = status.workers.filter_map(&:busy_mean)
        known.empty? ? "-" : Units.significant(known.sum)
      end

      def mebibytes(status)
        known = status.workers.filter_map(&:pss_bytes)
        known.empty? ? "-" : Report::Figures.mib(known.sum)
      end
    end
  end
end
