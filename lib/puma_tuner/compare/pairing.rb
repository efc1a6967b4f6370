# frozen_string_literal: true

module PumaTuner
  module Compare
    # Which spans of two logs are held against each other, and in how long blocks they are drawn.
    #
    # Traffic goes by the hour and by the day of the week, so spans of the same time are paired: of the week where both
    # logs have enough days in common, else of the day, several days of one log being added up. Logs that have no hour
    # in common are paired in the order of their spans, and then nothing is shown, unless all of it was within an hour.
    class Pairing
      WEEK_S = 604_800
      DAY_S = 86_400
      HOUR_NS = 3_600 * Units::NS_PER_S

      # Fewer days are no blocks, and hours are taken.
      DAYS_MIN = Stats::BlockBootstrap::BLOCKS_MIN

      # A day counts when it has as many spans as this share of the fullest one's.
      DAY_MIN_RATIO = 0.5

      # Blocks of hours are not as good as days, so that it takes more of them. More than the most make an interval
      # hardly narrower (Student's 2.07 instead of 2.20 for 24), and blocks half as long.
      BLOCKS_MIN = 8
      BLOCKS_MAX = 12

      # A block is at least so many times as long as what disturbs lasts.
      CORRELATION_FACTOR = 5

      # @return [Symbol] :week, :hours or :order
      attr_reader :kind

      # @return [Array<Array(Array<Integer>, Array<Integer>)>] numbers of the spans of both, by pair, in order
      attr_reader :pairs

      # @param a [Tally]
      # @param b [Tally] whose spans are as long
      def initialize(a, b)
        @tallies = [a, b]
        @span_s = a.span_s
        @kind, @pairs = week || hours || order
      end

      # @return [Array<Integer>] the number of the block of each pair, from 0
      def blocks
        return days.map { |one| days.uniq.index(one) } if days?
        Array.new(@pairs.size) { |index| index * blocks_count / @pairs.size }
      end

      # @return [Integer]
      def blocks_count
        return blocks.uniq.size if days?
        (@pairs.size / block_spans).clamp([BLOCKS_MIN, @pairs.size].min, BLOCKS_MAX)
      end

      # @return [Integer] seconds
      def block_s = days? ? DAY_S : @pairs.size * @span_s / blocks_count

      # @return [Float, nil] seconds
      def correlation_s = correlation_spans&.*(@span_s)

      # Why nothing is shown, whatever the figures are. other_hours: the logs have no time of the day in common, and
      # traffic differs between hours; few_blocks: too little time, or too few requests in it, for an interval;
      # short_blocks: what disturbs the server lasts so long that no blocks are independent of each other
      #
      # @return [Symbol, nil] one of these; nil where the figures decide
      def reason
        return :other_hours if @kind == :order && !within_an_hour?
        return if days?
        return :few_blocks if @pairs.size < BLOCKS_MIN * CORRELATION_FACTOR
        :short_blocks if @pairs.size / block_spans < BLOCKS_MIN
      end

      # @param side [Integer] 0 or 1
      # @return [Float] seconds of that log that are compared; of its first and last span, those since it began
      def seconds(side)
        tally = @tallies[side]
        @pairs.flat_map { |pair| pair[side] }.sum do |span|
          begins_s, ends_s = [span, span + 1].map { |number| number * @span_s.to_f }
          first_s, last_s = [tally.first_ns, tally.last_ns].map { |ns| ns.fdiv(Units::NS_PER_S) }
          [[ends_s, last_s].min - [begins_s, first_s].max, 0.0].max
        end
      end

      private

      def days? = @kind == :week

      # Traffic is then that of one time of the day.
      def within_an_hour?
        @tallies.map(&:last_ns).max - @tallies.map(&:first_ns).min <= HOUR_NS
      end

      def days = @days ||= @pairs.map { |spans, _| day(slot(spans.first, WEEK_S)) }

      def slot(span, cycle_s) = span % (cycle_s / @span_s)

      def day(slot) = slot * @span_s / DAY_S

      # An hour that a log has on more days than others would weigh more in it than in the other log, and hours differ.
      # So a log has as many spans of each time: so many that most of them are kept, and times of which it has fewer are
      # left out.
      #
      # @return [Hash{Integer => Array(Array, Array)}] spans of both, by what they have in common
      def common(cycle_s)
        sides = @tallies.map { |tally| tally.covered.group_by { |span| slot(span, cycle_s) } }
        slots = sides.map(&:keys).inject(:&).sort
        counts = sides.map { |side| spans_of_each(side.values_at(*slots).map(&:size)) }
        slots.select! { |slot| sides.zip(counts).all? { |side, count| side[slot].size >= count } }
        slots.to_h { |slot| [slot, sides.zip(counts).map { |side, count| side[slot].first(count) }] }
      end

      # @param sizes [Array<Integer>] spans of each time
      # @return [Integer] that keep most, of all times that have so many; of equals, that of more times
      def spans_of_each(sizes) = sizes.uniq.sort.max_by { |count| count * sizes.count { |size| size >= count } } || 0

      def week
        found = common(WEEK_S)
        sizes = found.keys.group_by { |slot| day(slot) }.transform_values(&:size)
        full = sizes.select { |_, size| size >= sizes.values.max * DAY_MIN_RATIO }
        [:week, found.select { |slot, _| full.key?(day(slot)) }.values] if full.size >= DAYS_MIN && DAY_S / @span_s > 1
      end

      def hours
        pairs = common(DAY_S).values
        [:hours, pairs] if pairs.size >= [BLOCKS_MIN, *@tallies.map { |tally| tally.covered.size }].min
      end

      def order
        a, b = @tallies.map(&:covered)
        [:order, Array.new([a.size, b.size].min) { |index| [[a[index]], [b[index]]] }]
      end

      def block_spans = [(CORRELATION_FACTOR * (correlation_spans || 1)).ceil, 1].max

      # For how long what the logs differ in, span by span, resembles itself: the integrated autocorrelation time
      # (Geyer, "Practical Markov Chain Monte Carlo", 1992: the initial positive sequence), or twice the mean lag of it,
      # where that is more. The first alone is short where spans of few requests scatter by themselves, as they hide
      # what lasts; and it stays in all of them.
      def correlation_spans
        return @correlation_spans if defined?(@correlation_spans)
        series = differences
        @correlation_spans = (autocorrelation_time(series) if series.size >= BLOCKS_MIN)
      end

      # Returns the logarithm of b's mean over a's, by pair.
      def differences
        means = @tallies.map { |tally| totals(tally) }
        @pairs.filter_map do |pair|
          a, b = pair.zip(means).map do |spans, by_span|
            counts, sums = spans.map { |span| by_span.fetch(span, [0, 0]) }.transpose.map(&:sum)
            sums.fdiv(counts) if counts.positive? && sums.positive?
          end
          Math.log(b / a) if a && b
        end
      end

      def totals(tally)
        tally.cells.each_value.with_object({}) do |by_span, all|
          by_span.each do |span, cell|
            sum = (all[span] ||= [0, 0])
            sum[0] += cell.count
            sum[1] += cell.sum_ns
          end
        end
      end

      def autocorrelation_time(series)
        mean = series.sum / series.size
        off = series.map { |one| one - mean }
        variance = off.sum { |one| one * one }
        return 1.0 if variance < 1e-12
        rho = ->(lag) { (lag...off.size).sum { |index| off[index - lag] * off[index] } / variance }
        found = [rho.call(1)]
        (2..series.size / 2 - 1).step(2) do |lag|
          two = [rho.call(lag), rho.call(lag + 1)]
          break unless two.sum.positive?
          found.concat(two)
        end
        # Of what does not resemble itself, the sum scatters by so much (Bartlett).
        lasts = found.sum > 2 * Math.sqrt(found.size.fdiv(series.size))
        [1 + 2 * found.sum, (lasts ? 2 * mean_lag(found) : 0.0), 1.0].max
      end

      # @param found [Array<Float>] autocorrelations, from lag 1 on
      def mean_lag(found)
        all = found.sum { |one| [one, 0].max }
        all.positive? ? found.each_with_index.sum { |one, index| [one, 0].max * (index + 1) } / all : 0.0
      end
    end
  end
end
