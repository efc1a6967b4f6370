# frozen_string_literal: true

require "time"

module PumaTuner
  module Compare
    # Two logs that were read, held against each other. Pure but for the random numbers it is given.
    class Comparer
      # name => ratio of a percentile; nil of the mean
      METRICS = {"mean" => nil, "p50" => 0.5, "p90" => 0.9, "p99" => 0.99}.freeze

      # An endpoint with fewer in one of the logs is not compared.
      REQUESTS_MIN = 100

      # So many requests have to be slower than a percentile for it to be one.
      BEYOND_MIN = 10

      # Endpoints among which the mix is made equal; those beyond are seldom asked for.
      MIXED_MAX = 100

      MIXED_BLOCKS_MIN = 6

      # With less of all requests in endpoints that both were asked for, nothing can be said at an equal mix.
      COVERED_MIN_RATIO = 0.5

      # Requests per second that differ by more are worth a word, as queues grow with them.
      TRAFFIC_TOLERANCE_RATIO = 0.1

      # Spans have so many requests at least, on the mean of either log, and about ten as lengths of spans are: by
      # fewer, chance alone tells them apart.
      SPAN_REQUESTS_MIN = 5

      # Of hours that the other log does not have; fewer requests are not worth a word.
      LEFT_HOURS_MIN_RATIO = 0.01

      # A standard deviation of so many is within 3%.
      RESAMPLES_COUNT = 500

      LEVEL_RATIO = 0.95

      # Of Probe::Histogram's buckets.
      BUCKET_ERROR_RATIO = Probe::Histogram::RELATIVE_ERROR
      private_constant :BUCKET_ERROR_RATIO

      # @param a [Log] that was read
      # @param b [Log] that was read
      # @param seen_from [String] one of Log::SEEN_FROM
      # @param random [Random]
      # @param endpoints_max [Integer] the most frequent are told of
      # @param resolution_ns [Integer] of both logs' times
      def initialize(a, b, seen_from:, random:, endpoints_max:, resolution_ns:)
        @logs = [a, b]
        @seen_from = seen_from
        @random = random
        @endpoints_max = endpoints_max
        @resolution_ns = resolution_ns
        @tallies = @logs.map(&:tally)
        widen_spans
        @pairing = Pairing.new(*@tallies)
        @blocks = @pairing.blocks
        @blocks_count = @pairing.blocks_count
      end

      # @param command [String, nil] to repeat it
      # @return [Outcome]
      # @raise [InvalidMeasurement] when the logs have no time with requests that count in common
      def call(command: nil)
        cells
        ensure_any
        statistics = Statistics.new(**sides, told:, mixed: (covered_ratio >= COVERED_MIN_RATIO) ? mixed : [])
        results = Stats::BlockBootstrap.of(@blocks_count, random: @random, resamples_count: RESAMPLES_COUNT,
          &statistics.method(:call))
        found = statistics.keys.zip(results).to_h { |(about, metric), result| [[about, metric], known(about, result)] }
        judged = judge(found)
        rows = overall_rows(statistics, found, judged)
        Outcome.new(a: facts(0), b: facts(1), rows: rows.freeze, endpoints: endpoints(statistics, found, judged).freeze,
          mix: mix(found), mix_rows: mix_rows(found), covered_ratio:, pairing: @pairing.kind,
          span_s: @tallies.first.span_s, block_s: @pairing.block_s, blocks_count: @blocks_count,
          correlation_s: @pairing.correlation_s, reason: @pairing.reason, remarks: remarks(rows).freeze, command:,
          started_at: Time.now.utc.iso8601)
      end

      private

      def widen_spans
        span_s = @tallies.map(&:span_s).max
        @tallies.each { |tally| tally.widen(span_s) }
        while @tallies.first.wider_within_a_day? && @tallies.any? { |tally| sparse?(tally) }
          @tallies.each(&:widen_by_one)
        end
      end

      def sparse?(tally)
        spans_count = tally.covered.size
        spans_count > Pairing::BLOCKS_MIN && tally.requests_count < SPAN_REQUESTS_MIN * spans_count
      end

      # @return [Hash{String => Array(Array<Tally::Cell>, Array<Tally::Cell>)}] of both logs, by endpoint and block
      def cells
        @cells ||= begin
          places = [0, 1].map do |side|
            @pairing.pairs.zip(@blocks).flat_map { |pair, block| pair[side].map { |span| [span, block] } }.to_h
          end
          names = @tallies.flat_map { |tally| tally.cells.keys }.uniq
          names.to_h { |name| [name, [0, 1].map { |side| by_block(@tallies[side].cells[name].to_h, places[side]) }] }
        end
      end

      def by_block(by_span, places)
        blocks = Array.new(@blocks_count) { Tally::Cell.empty }
        by_span.each { |span, cell| blocks[places[span]].add(cell) if places.key?(span) }
        blocks
      end

      def ensure_any
        return if [0, 1].all? { |side| count(cells.values.flat_map { |both| both[side] }).positive? }
        raise InvalidMeasurement, "the logs have no time in common in which both served a request without an error; " \
          "take logs of the same hours"
      end

      def count(list) = list.sum(&:count)

      # How far an endpoint scatters is known from the blocks in which both logs have it, be they few of all. A block
      # with next to none of its requests tells next to nothing, so they count as many as would with the same weight
      # (Kish, "Survey Sampling", 1965, 11.7).
      def known(about, result)
        both = cells[about]
        return result unless result && both
        common = both.transpose.select { |block| block.all? { |cell| cell.count.positive? } }
        effective_counts = common.transpose.map do |list|
          (count(list)**2).fdiv(list.sum { |cell| cell.count**2 }).round
        end
        effective_count = effective_counts.min || 0
        return if effective_count < Stats::BlockBootstrap::BLOCKS_MIN
        result.with(freedom: effective_count - 1, blocks_count: common.size)
      end

      # @return [Hash{String => Array(Integer, Integer)}] requests of both, the most frequent first
      def counts
        @counts ||= cells.transform_values { |both| both.map { |list| count(list) } }
          .sort_by { |name, numbers| [-numbers.sum, name] }.to_h
      end

      def comparable = @comparable ||= counts.select { |_, numbers| numbers.min >= REQUESTS_MIN }.keys

      def told = comparable.first(@endpoints_max)

      # Those that come in so many blocks that hardly a drawing has none of them.
      def mixed
        least_count = [MIXED_BLOCKS_MIN, @blocks_count].min
        @mixed ||= comparable.first(MIXED_MAX).select do |name|
          cells[name].all? { |list| list.count { |cell| cell.count.positive? } >= least_count }
        end
      end

      def covered_ratio
        @covered_ratio ||= [0, 1].map { |side|
          counts.values_at(*mixed).sum { |numbers| numbers[side] }.fdiv(counts.values.sum { |numbers| numbers[side] })
        }.min
      end

      def sides
        buckets = cells.values.flatten.flat_map { |cell| cell.buckets.keys }.uniq.sort
        all, together = [cells.values, cells.values_at(*mixed)].map { |some| [0, 1].map { |side| merged(some, side) } }
        {buckets:, errors: all, seconds: [0, 1].map { |side| @pairing.seconds(side) },
         all: all.map { |list| Durations.new(list, buckets) },
         mixed_together: together.map { |list| Durations.new(list, buckets) },
         endpoints: comparable.to_h { |name| [name, cells[name].map { |list| Durations.new(list, buckets) }] }}
      end

      def merged(some, side)
        Array.new(@blocks_count) do |block|
          some.each_with_object(Tally::Cell.empty) { |both, sum| sum.add(both[side][block]) }
        end
      end

      # Outcomes of all that is compared, corrected together for being many.
      def judge(found)
        return {} if @pairing.reason
        found = found.merge([:all, "failed"] => found[[:all, "failed"]] || failed_difference)
        results = found.select { |(about, metric), result| result && decisive?(about, metric, found) }
        raised = Stats::Holm.adjust(results.transform_values(&:p_value))
        results.to_h { |key, result| [key, outcome(result, raised.fetch(key))] }
      end

      # A difference of which there is no ratio. log: of b over a, infinite where one of them is 0
      Difference = Data.define(:log, :p_value)
      private_constant :Difference

      # Errors that one log alone has, or few blocks, make no ratio. Their shares are held against each other with the
      # sides of blocks swapped, which knows how errors cluster, and as counts of independent events, which knows that
      # one log has more requests; what both are sure of counts.
      #
      # @return [Difference, nil] nil where neither log has any
      def failed_difference
        blocks = Array.new(@blocks_count) { |block| [0, 1].map { |side| failed_and_all(side, block) } }
          .select { |sides| sides.all? { |_, all| all.positive? } }
        shares = ->(swapped) { shares(blocks.zip(swapped).map { |sides, swap| swap ? sides.reverse : sides }) }
        a, b = shares.call([])
        return unless a&.positive? || b&.positive?
        swapping = Stats::PermutationTest.p_value(blocks.size, random: @random) do |swapped|
          shares.call(swapped).inject(:-).abs
        end
        counting = Stats::RateRatio.p_value(*blocks.transpose.map { |side| side.transpose.map(&:sum) }.transpose)
        Difference.new(log: Math.log(b.fdiv(a)), p_value: [swapping, counting].max)
      end

      def failed_and_all(side, block)
        %i[failed_count requests_count].map do |name|
          cells.each_value.sum { |both| both[side][block].public_send(name) }
        end
      end

      # @param blocks [Array<Array(Array, Array)>] errors and requests, of both
      # @return [Array(Float, Float)]
      def shares(blocks)
        blocks.transpose.map { |side| side.sum(&:first).fdiv(side.sum(&:last)) }
      end

      def decisive?(about, metric, found)
        return false if metric == "rate" || metric == "refused" || about == :mix
        about != :all || metric == "failed" || found[[:adjusted, metric]].nil?
      end

      def outcome(result, p_value)
        return :not_shown if p_value > 1 - LEVEL_RATIO
        result.log.negative? ? :better : :worse
      end

      def overall_rows(statistics, found, judged)
        durations = METRICS.keys.map do |metric|
          row(metric, statistics, :all, found, judged, adjusted: found[[:adjusted, metric]])
        end
        [*durations, *%w[failed refused rate].map { |metric| row(metric, statistics, :all, found, judged) }]
      end

      # Words and units of what is no time.
      LABELS = {"rate" => ["requests/s", "per_s"], "failed" => ["status 500 and above", "ratio"],
                "refused" => ["status 400 to 499", "ratio"]}.freeze
      private_constant :LABELS

      def row(metric, statistics, about, found, judged, adjusted: nil)
        label, unit = LABELS.fetch(metric) { [metric, "ns"] }
        a, b = statistics.values(about, metric)
        ratio = found[[about, metric]]
        outcome = judged[[:adjusted, metric]] if about == :all
        outcome ||= judged[[about, metric]]
        decided = METRICS.key?(metric) || metric == "failed"
        reason = few_requests?(metric, ratio, a, b) ? :few_requests : @pairing.reason if decided
        Fleet::Row.new(name: metric, label:, unit:, a:, b:, ratio: ratio&.estimate, adjusted: adjusted&.estimate,
          error_ratio: error_ratio(metric, a, b), outcome: decided ? outcome || :not_shown : nil, reason:)
      end

      # Times of 0 have no ratio either, however many they are.
      def few_requests?(metric, ratio, *values)
        METRICS.key?(metric) && ratio.nil? && values.none? { |one| one&.zero? }
      end

      def error_ratio(metric, a, b)
        return unless METRICS[metric]
        [(@resolution_ns / 2.0 / [a, b].compact.min if a&.positive? && b&.positive?), BUCKET_ERROR_RATIO].compact.max
      end

      def endpoints(statistics, found, judged)
        counts.filter_map do |name, (a_count, b_count)|
          next if a_count + b_count == 0
          rows = told.include?(name) ? METRICS.keys.map { |metric| row(metric, statistics, name, found, judged) } : []
          Endpoint.new(endpoint: name, a_count:, b_count:, rows: rows.freeze,
            reason: (why_not(name, a_count, b_count) if rows.empty?))
        end
      end

      def why_not(name, a_count, b_count)
        return :only_in_b if a_count.zero?
        return :only_in_a if b_count.zero?
        comparable.include?(name) ? :not_asked : :few_requests
      end

      # The same test as a fleet's, of blocks instead of days.
      def mix(found)
        blocks = Array.new(@blocks_count) do |block|
          [0, 1].map { |side| cells.transform_values { |both| both[side][block].count } }
        end
        blocks = blocks.select { |block| block.all? { |side| side.values.sum.positive? } }
        return if counts.size < 2 || blocks.empty?
        Fleet::MixComparer.shift(blocks, days: @pairing.reason.nil?, random: @random) do
          found[[:adjusted, "p99"]]&.estimate
        end
      end

      def mix_rows(found)
        METRICS.keys.to_h { |metric| [metric, found[[:mix, metric]]&.estimate] }.compact.freeze
      end

      def facts(side)
        log, tally = @logs[side], @tallies[side]
        begins_at, ends_at = [tally.first_ns, tally.last_ns].map { |ns| Time.at(ns / Units::NS_PER_S).utc.iso8601 }
        Facts.new(name: (log.path == AccessLog::Lines::STANDARD_INPUT) ? log.path : File.basename(log.path),
          format: log.format_name, seen_from: @seen_from, begins_at:, ends_at:, requests_count: tally.requests_count,
          compared_count: compared_count(side), left_out: log.left_out.transform_keys(&:to_s).freeze,
          resolution_ns: @resolution_ns)
      end

      def compared_count(side) = cells.values.sum { |both| both[side].sum(&:requests_count) }

      def remarks(rows)
        formats = @logs.map(&:format_name)
        rate = rows.find { |row| row.name == "rate" }.ratio
        [
          (Statement.of(:other_formats, a: formats.first, b: formats.last) if formats.uniq.size > 1),
          *[0, 1].filter_map { |side| without_time(side) },
          *[0, 1].filter_map { |side| left_hours(side) },
          (Statement.of(:other_traffic, ratio: rate) if other_traffic?(rate)),
          *errors_of_one(rows.find { |row| row.name == "failed" }),
          (Statement.of(:other_endpoints, covered_ratio:) if covered_ratio < 1 - LEFT_HOURS_MIN_RATIO),
          (Statement.of(:less_than_days) unless @pairing.kind == :week || @pairing.reason)
        ].compact
      end

      # Nobody knows whether they were like the others.
      def without_time(side)
        count = @logs[side].left_out.fetch(:no_time, 0)
        ratio = count.fdiv(count + @tallies[side].requests_count)
        Statement.of(:without_time, log: Fleet::Reader::NAMES[side], ratio:) if ratio > LEFT_HOURS_MIN_RATIO
      end

      def errors_of_one(failed)
        with, without = [failed.a, failed.b].zip(Fleet::Reader::NAMES).partition { |share, _| share&.positive? }
        with.product(without).map { |(ratio, log), (_, other)| Statement.of(:errors_of_one, log:, other:, ratio:) }
      end

      def other_traffic?(rate) = rate && !rate.covers?(1) && (rate.value - 1).abs > TRAFFIC_TOLERANCE_RATIO

      def left_hours(side)
        return if @pairing.kind == :order
        ratio = 1 - compared_count(side).fdiv(@tallies[side].requests_count)
        Statement.of(:left_hours, log: Fleet::Reader::NAMES[side], ratio:) if ratio > LEFT_HOURS_MIN_RATIO
      end
    end
  end
end
