# frozen_string_literal: true

module PumaTuner
  module Advise
    # The topology to recommend. Where there are goals, it is the cheapest that meets them. Where there are none, the
    # best within the constraints is the one with the highest throughput; in an open loop, where throughput is the
    # load's own rate, the one with the lowest p99. Of those that are as good, the one with the fewest slots is taken,
    # then with the least memory.
    #
    # What is gained is the ratio of two forecasts that met the same requests, with what the model gets wrong of this
    # app: where the interval of throughput's holds 1, nothing is gained that anybody could promise, and more threads or
    # workers are never recommended for that. A p99 scatters far more, whoever measures it, and an interval of another
    # run's would hold 1 where the better setting is plain; there the middle has to be better by a margin, and nearly
    # all simulations have to agree. And as forecasts miss by some of the throughput, what is as good in an open loop
    # has to be so with somewhat more of the load, too.
    class Choice
      # Cells this close in throughput count as equal: repeated measurements of one cell
      # differ by as much, so that a smaller difference could not be proved, however
      # sure a forecast is of it. A wider margin gives away what can be measured.
      EQUAL_WITHIN_RATIO = 0.02

      # The same of the p99 in an open loop; forecasts of it miss by about so much. How many pairs of settings that are
      # further apart by their forecasts were measured the other way round, `rake advice` tells
      # (docs/measured/advice.md).
      EQUAL_P99_WITHIN_RATIO = 0.1

      # Of settings in an open loop whose p99 is so much longer than the best one's at most, that with the fewest slots
      # is taken. A judgement: 10% gave away 14% and 15% of what `rake advice` measured, as forecasts of neighbours
      # differ by less than the neighbours do.
      NEAR_P99_WITHIN_RATIO = 0.05

      # The same of an app that collects much garbage, whose cost follows how full a server's heap happens to be. Of one
      # such app (garbage of `rake advice`) three servers each served 921 to 1,401 requests/s in spans of two seconds at
      # 2x5, and 838 to 1,406 at 2x8, so that a forecast from five seconds of each orders the two by chance. At two
      # thirds of what a setting bears 15% more CPU makes a p99 about half as long again (M/M/1: 1.15 * 1/3 / (1 - 0.77)
      # is 1.64).
      NEAR_P99_COLLECTING_RATIO = 0.5

      # So many of the simulations with the same requests have to agree. A judgement.
      AGREEING_RATIO = 0.9

      # So many times an open load has to be borne as well as it is. It is as much as a trusted model may miss of the
      # throughput (Predict::SelfCheck): a setting that bears so much less than its forecast meets the load like that.
      # Of neighbours whose p99s were forecast 3% apart one was measured 19% slower (lock, `rake advice`).
      MORE_LOAD_FACTOR = 1 + Predict::SelfCheck::TRUSTED_RATIO

      # @param sweep [Predict::Sweep]
      # @param constraints [Constraints]
      # @param with_more [#call, nil] Array<Predict::Forecast> of the sweep -> Predict::Sweep of the same settings under
      #   MORE_LOAD_FACTOR times the load, or nil; nil: nothing is known of it
      def initialize(sweep, constraints, with_more: nil)
        @sweep = sweep
        @constraints = constraints
        @with_more = with_more
      end

      # @return [Predict::Forecast, nil] today's when nothing meets the
      #   constraints; nil when that has no steady state either
      def forecast
        @forecast ||= (goals? ? cheapest : worthwhile.min_by { |cell| cost(cell) }) || (today if today.steady?)
      end

      # @return [Constraints] without the machine's memory, where nothing that was forecast is beyond it, or nobody
      #   knows; where today's setting is, it fits all the same, and is the limit
      def constraints
        @kept ||= if !@constraints.of_machine?
          @constraints
        elsif memory_unknown? || all_fit?
          @constraints.without_memory
        else
          @constraints.with(max_memory_bytes: [@constraints.max_memory_bytes, *most_bytes(today)].max)
        end
      end

      # @return [Boolean] whether there is anything to meet, and what is beyond it is of no use
      def goals? = @constraints.goals.any?

      # @return [Predict::Forecast, nil] the one that meets goals and constraints for the least memory, then on the
      #   fewest cores; today's, where that costs no more; nil when nothing meets them
      def cheapest
        found = in_order_of_price(ample).first or return
        (allowed.include?(today) && (price(today) <=> price(found)) <= 0) ? today : found
      end

      # @param cells [Array<Predict::Forecast>]
      # @return [Array<Predict::Forecast>] the cheapest first; of as cheap ones, that with the fewest slots
      def in_order_of_price(cells)
        cells.sort_by { |cell| [*price(cell), cell.topology.slots_count, cell.p99_ns&.value || Float::INFINITY] }
      end

      # @return [Predict::Forecast]
      def today = @sweep.at(@sweep.today)

      # @return [Array<Predict::Forecast>] that differ from today's in nothing but the topology: with the recording's
      #   arrivals, where they were simulated
      def cells = @cells ||= @sweep.forecasts.select { |cell| beside_topology(cell) == beside_topology(today) }

      # @return [Predict::Forecast, nil] of those that meet the constraints
      def best
        @best ||= if open?
          ample.min_by { |cell| cell.p99_ns.value }
        else
          ample.max_by { |cell| cell.throughput_per_s.value }
        end
      end

      # @return [Boolean] whether today's slots wait for clients, so that nothing is known of what they are for
      def too_few_clients? = today.too_few_clients?

      # @return [Boolean] whether requests arrive whatever the server does
      def open? = today.scenario.arrivals.open?

      # @return [Array<Predict::Forecast>] as good as the best; where nobody can promise that this is better than
      #   today's, as good as today's
      def equals
        near - not_with_more.map(&:first)
      end

      # Of those that are next to the best under the load, those that are not so with more of it; none where today's is
      # left for no gain.
      #
      # An app that collects much garbage is not asked, as what is found by chance differs the more, the more the load.
      #
      # @return [Array<Array(Predict::Forecast, Predict::Forecast, Predict::Forecast)>] one, the same with more of the
      #   load, and the best with that
      def not_with_more
        @not_with_more ||= begin
          sweep = @with_more&.call(near) if open? && wanted == best && near.size > 1 && !collecting?
          more = near.to_h { |cell| [cell, sweep&.at(cell.topology)] }
          top = more.values.compact.select(&:steady?).min_by { |cell| cell.p99_ns.value }
          top ? more.filter_map { |cell, one| [cell, one, top] unless one.steady? && as_good?(one, top) } : []
        end
      end

      # @return [Boolean] whether it collects so much garbage that a heap makes more of a difference than threads do
      def collecting? = !!best&.budget&.collecting?

      # @return [Float] by how much longer a p99 in an open loop may be than the best one's, to be as good
      def near_p99_ratio = collecting? ? NEAR_P99_COLLECTING_RATIO : NEAR_P99_WITHIN_RATIO

      # @return [Boolean] whether one cell is better than another whatever the model gets wrong
      def sure_gain?(cell, over) = open? ? shorter_tail?(cell, over) : ratio(cell, over, :throughput_per_s).low > 1

      # @return [Stats::Estimate]
      def ratio(cell, over, name) = @sweep.ratio(cell, over, name)

      # What to measure when the forecasts can't be trusted: the two best by them, and the best of those with one thread
      # in each worker, which no waits of threads for each other make slower.
      #
      # @return [Array<Predict::Forecast>] without today's
      def candidates
        ranked = allowed.sort_by { |cell| open? ? cell.p99_ns.value : -cell.throughput_per_s.value }
        one_thread = ranked.find { |cell| cell.topology.threads_count == 1 }
        [*([forecast, *ranked].compact.uniq - [today]).first(2), one_thread].compact.uniq - [today]
      end

      # @return [Array<Predict::Forecast>] those that meet the constraints
      def allowed = @allowed ||= cells.select { |cell| constraints.met_by?(cell, memory_bytes: counted_bytes(cell)) }

      # @return [Array<Predict::Forecast>] those that keep to the limits, whether or not they meet goals
      def affordable
        @affordable ||= cells.select { |cell| constraints.affords?(cell, memory_bytes: counted_bytes(cell)) }
      end

      def stay? = !forecast.nil? && forecast.topology == @sweep.today

      # @return [Boolean] whether nothing at all is known of memory
      def memory_unknown? = cells.none?(&:memory_bytes)

      # What a setting costs: memory, in whose place stands the number of workers where that of some is unknown; then
      # cores that it keeps busy.
      #
      # @param cell [Predict::Forecast]
      # @return [Array(Integer, Integer)] to be compared
      def price(cell)
        @by_memory = !memory_unknown? && cells.all? { |one| most_bytes(one) } if @by_memory.nil?
        [@by_memory ? most_bytes(cell) : cell.topology.workers_count, cell.cores_used&.ceil || 0]
      end

      # Of a cluster, where but a single process was recorded: as if its master and workers shared nothing. A single
      # process takes no more than the smallest cluster. A container's limit that nothing can be held against is kept by
      # no more workers than today's.
      #
      # @return [Integer, nil]
      def most_bytes(cell)
        if memory_unknown?
          return (0 if @constraints.of_container? && cell.topology.workers_count <= today.topology.workers_count)
        end
        return cell.memory_bytes if cell.memory_bytes
        return known_bytes.values.min if cell.topology.workers_count == 1
        known_bytes[1]&.*(cell.topology.workers_count + 1)
      end

      # What a limit is held against. What takes no more than today's setting, which a container bears, needs no margin.
      #
      # @return [Integer, nil]
      def counted_bytes(cell)
        bytes, borne_bytes = most_bytes(cell), most_bytes(today)
        return bytes unless bytes && borne_bytes && @constraints.of_container?
        borne_bytes.between?(bytes, @constraints.max_memory_bytes) ? 0 : bytes
      end

      private

      def all_fit? = cells.all? { |cell| most_bytes(cell)&.<=(@constraints.max_memory_bytes) }

      # Where clients are too few for today's slots, all settings with as many slots as clients are as good as each
      # other. Fewer slots than today's are then taken only as far as a limit demands it.
      def ample
        return allowed unless too_few_clients?
        least_count = [today.topology.slots_count, *allowed.map { |cell| cell.topology.slots_count }.max].min
        @ample ||= allowed.select { |cell| cell.topology.slots_count >= least_count }
      end

      def wanted = @wanted ||= (allowed.include?(today) && !sure_gain?(best, today)) ? today : best

      def near = @near ||= ample.select { |cell| as_good?(cell, wanted, near_p99_ratio) }

      # What of equal ones the least is taken of.
      def cost(cell) = [cell.topology.slots_count, cell.memory_bytes || Float::INFINITY, cell.p99_ns.value]

      # @return [Hash{Integer => Integer}] memory by number of workers
      def known_bytes
        @known_bytes ||= cells.select(&:memory_bytes).to_h { |cell| [cell.topology.workers_count, cell.memory_bytes] }
      end

      # Today's settings, where they will do, are left for a gain only, or for fewer of everything without a loss.
      def worthwhile
        allowed.include?(today) ? equals.select { |cell| cell == today || worth_leaving_today?(cell) } : equals
      end

      def worth_leaving_today?(cell)
        return true if sure_gain?(cell, today)
        return false unless as_good?(cell, today)
        slots = cell.topology.slots_count <=> today.topology.slots_count
        fewer = cell.topology.workers_count <= today.topology.workers_count
        (slots < 0 && fewer) || (slots <= 0 && shorter_tail?(cell, today))
      end

      # By their middles: what can't be proved, in either direction.
      def as_good?(cell, other, p99_within_ratio = NEAR_P99_WITHIN_RATIO)
        return cell.p99_ns.value <= other.p99_ns.value * (1 + p99_within_ratio) if open?
        cell.throughput_per_s.value >= other.throughput_per_s.value * (1 - EQUAL_WITHIN_RATIO)
      end

      # Without simulations to be compared one by one, the interval decides.
      def shorter_tail?(cell, over)
        samples = [cell, over].map { |one| one.samples&.fetch("p99_ns", nil) }
        return ratio(cell, over, :p99_ns).high < 1 if samples.include?(nil)
        shorter_count = samples.reduce(:zip).count { |one, other| one < other }
        cell.p99_ns.value * (1 + EQUAL_P99_WITHIN_RATIO) < over.p99_ns.value &&
          shorter_count >= AGREEING_RATIO * samples.first.size
      end

      def beside_topology(cell) = cell.scenario.with(topology: nil, min_threads_count: nil)
    end
  end
end
