# frozen_string_literal: true

module PumaTuner
  module Trial
    # What came of a trial.
    #
    # started_at: ISO 8601; server_pid: of the process that leads it
    # requests_counts: [of the baseline, of the canaries], in the periods that count
    # rows: Array<Fleet::Row>, canary over baseline; empty of too few periods
    # p_value: of their p99 being equal, by swapping who was the canary; nil of too few periods
    # mix: Fleet::MixShift, whether both were asked for the same; nil where that can't be told
    # ended: Statement, why it ended before its time; nil: it did not
    # restored: whether all pools had their configured size again; nil where that can't be told
    Outcome = Document.define(:started_at, :server_pid, :plan, :requests_counts, :rows, :p_value, :mix, :ended,
      :restored, kind: :trial,
      nested: {plan: Plan, rows: [Fleet::Row], mix: Fleet::MixShift, ended: Statement}) do
      # These ends say nothing of the setting that was tried.
      const_set(:NO_FAULT, %i[interrupted server_gone workers_replaced silent disobeyed].freeze)

      # @param plan [Plan]
      # @param readings [Array<Reading>]
      # @param ended [Statement, nil]
      # @return [Outcome]
      def self.of(plan, readings, started_at:, server_pid:, ended: nil, restored: nil)
        spans = Spans.new(plan, readings)
        new(started_at:, server_pid:, plan:, requests_counts: spans.requests_counts, rows: spans.rows,
          p_value: spans.p_value, mix: spans.mix, ended:, restored:)
      end

      # @return [Symbol] :harmful: it had to be undone; :better, :worse or :not_shown of the p99, where the interval and
      #   the permutation test agree
      def outcome
        return :harmful if ended && !self.class::NO_FAULT.include?(ended.kind)
        row = rows.find { |one| one.name == "p99" }
        ratio = row && (row.adjusted || row.ratio)
        return :not_shown if ratio.nil? || row.reason || ratio.covers?(1) || p_value.nil? || p_value > 0.05
        (ratio.value < 1) ? :better : :worse
      end

      # @return [Array(Integer, Integer)] minimum and maximum to write into puma.rb
      def threads
        (outcome == :better) ? self.class.threads_kept(plan.configured, plan.threads_count) : plan.configured
      end

      # @param configured [Array(Integer, Integer)] least and most threads, as puma.rb has them
      # @param threads_count [Integer] that are to be the most
      # @return [Array(Integer, Integer)] minimum and maximum to write: a pool of one size stays one
      def self.threads_kept(configured, threads_count)
        least, most = configured
        [(least == most) ? threads_count : [least, threads_count].min, threads_count]
      end
    end

    # A trial's readings as pairs of spans of equal time: the baseline's, and the canary's.
    class Spans
      METRICS = %w[p99 p50 cpu_per_request gvl_wait_per_request queue_per_request memory_per_worker].freeze

      # All chance is the same in each replay.
      SEED = 1

      # @param plan [Plan]
      # @param readings [Array<Reading>]
      def initialize(plan, readings)
        @plan = plan
        @readings = readings
        @used = readings.flat_map(&:workers).flat_map { |one| one.endpoints.values }
          .flat_map { |histogram| histogram.counts.map(&:first) }.uniq.sort
        @pairs = (plan.alone? ? in_turns(readings) : side_by_side(readings)).select { |pair| pair.all?(&:usable?) }
      end

      # @return [Array(Integer, Integer)] of the baseline, of the canaries
      def requests_counts = [0, 1].map { |side| @pairs.sum { |pair| pair[side].requests_count }.round }

      # @return [Array<Fleet::Row>]
      def rows
        return [].freeze if @pairs.empty?
        metrics = Fleet::Measured::ALL.select { |metric| METRICS.include?(metric.name) }
        # Who is the canary changes with each block, and what disturbs hits both sides of it.
        Fleet::Comparer.new(*@pairs.transpose, blocks, days: true, random: Random.new(SEED), metrics:).rows.freeze
      end

      # @return [Float, nil] see Outcome
      def p_value
        return if grouped.size < Plan::BLOCKS_MIN
        points = grouped.map { |pairs| [0, 1].map { |side| pairs.map { |pair| point(pair[side]) } } }
        Stats::PermutationTest.p_value(points.size, random: Random.new(SEED)) do |swapped|
          a, b = [0, 1].map { |side| points.zip(swapped).flat_map { |both, swap| both[swap ? 1 - side : side] } }
          Stats::Ancova.of(b).difference(Stats::Ancova.of(a)).abs
        end
      end

      # Of one canary for one period, in parts of it: what makes that worker unlike its fellows is in the ratio.
      #
      # @return [Stats::Estimate, nil] p99 of the last period's canary over the others'; nil of too few looks
      def p99_ratio
        pairs = parts.select { |pair| pair.all?(&:usable?) }
        return if pairs.empty?
        row = Fleet::Comparer.new(*pairs.transpose, [*0...pairs.size], days: true, random: Random.new(SEED),
          metrics: Fleet::Measured::ALL.select { |metric| metric.name == "p99" }).rows.first
        return if row.reason
        row.adjusted || row.ratio
      end

      # @return [Fleet::MixShift, nil] see Outcome
      def mix
        return if @pairs.empty?
        Fleet::MixComparer.new(grouped, days: true, random: Random.new(SEED)).call
      end

      private

      def point(span) = [Math.log(span.load_per_s), Math.log(span.histogram.quantile_s(0.99))]

      # Of two workers, a period of each makes a block, in which what makes them unlike cancels out.
      def blocks
        size = (!@plan.alone? && @plan.pids.size == 2 && @pairs.size >= 2 * Plan::BLOCKS_MIN) ? 2 : 1
        Array.new(@pairs.size) { |place| place / size }
      end

      # @return [Array<Array<Array(Span, Span)>>] by block
      def grouped = @grouped ||= @pairs.zip(blocks).group_by(&:last).values.map { |list| list.map(&:first) }

      # @return [Array<Array(Span, Span)>]
      def parts
        period = @plan.periods_count - 1
        own, tried = [@plan.alone? ? period - 1 : period, period].map { |one| sliced(@plan.counted(@readings, one)) }
        canary = [@plan.canary(period)]
        fellows = @plan.alone? ? canary : @plan.pids - canary
        own.zip(tried).filter_map { |one, other| [span(one, fellows), span(other, canary)] if one && other }
      end

      def sliced(counted) = counted.each_slice([counted.size.fdiv(Plan::BLOCKS_MIN).ceil, 1].max).to_a

      def side_by_side(readings)
        Array.new(@plan.periods_count) { |period|
          canary = @plan.canary(period)
          counted = @plan.counted(readings, period)
          [@plan.pids - [canary], [canary]].map { |pids| span(counted, pids) }
        }
      end

      # Of one process: its periods with what is configured, and those with what is tried, in their order.
      def in_turns(readings)
        own, tried = Array.new(@plan.periods_count) { |period| period }.partition { |period| @plan.canary(period).nil? }
        size = [own.size, tried.size].min
        own.first(size).zip(tried).map do |pair|
          pair.map { |period| span(@plan.counted(readings, period), @plan.pids) }
        end
      end

      def span(counted, pids)
        workers = counted.flat_map { |reading| reading.workers_of(pids) }
        names = workers.flat_map { |worker| worker.endpoints.keys }.uniq
        endpoints = names.to_h { |name| [name, merged(workers.filter_map { |worker| worker.endpoints[name] })] }
        all = workers.map(&:latency)
        Fleet::Span.new(seconds: counted.sum { |reading| reading.at_s - reading.since_s }, coverage_ratio: 1.0,
          histogram: (merged(all) if all.any?), endpoints:,
          parts_s: Probe::Parts::SUMS.map(&:name)
            .to_h { |part| [part, workers.sum { |one| seconds(one.parts_ns[part]) }] },
          cpu_s: workers.sum { |one| seconds(one.cpu_ns) },
          memory_bytes: memory_bytes(counted, pids), worker_memory_bytes: nil, code_bytes: nil,
          yjit_limited_bytes: nil, yjit_limit_bytes: nil, yjit_workers_count: nil, workers_count: pids.size.to_f,
          threads_count: nil, servers_count: 1.0)
      end

      def seconds(ns) = ns.to_i.fdiv(Units::NS_PER_S)

      def memory_bytes(counted, pids)
        sums = counted.filter_map do |reading|
          bytes = reading.workers_of(pids).map(&:memory_bytes)
          bytes.sum if bytes.any? && !bytes.include?(nil)
        end
        sums.sum.fdiv(sums.size) if sums.any?
      end

      # All with the same bounds: the ends of those buckets that any of them has.
      def merged(histograms)
        both = histograms.reduce(:+)
        counts = Array.new(bounds_ns.size + 1, 0.0)
        counts[0] += both.zero_count
        both.counts.each { |bucket, count| counts[places.fetch(bucket)] += count }
        bounds_s = bounds_ns.map { |ns| ns.fdiv(Units::NS_PER_S) }
        Fleet::MergedHistogram.new(bounds_s: [*bounds_s, Float::INFINITY], counts:)
      end

      def bounds_ns
        @bounds_ns ||= @used.flat_map { |bucket| Probe::Histogram.range_of(bucket).then { |ns| [ns.begin, ns.end] } }
          .uniq.sort
      end

      def places
        @places ||= @used.to_h { |bucket| [bucket, bounds_ns.index(Probe::Histogram.range_of(bucket).end)] }
      end
    end
  end
end
