# frozen_string_literal: true

require_relative "field"

module PumaTuner
  module Labs
    class MythBusters
      # Servers that are up at the same time take turns at the same loads, in rounds: what the machine's neighbours do to one, they do to the other,
      # too. A server whose turn it is not is idle.
      class Duel
        # fresh: whether each round starts its servers anew, as differences between two starts are part of the truth; seconds: of a turn
        Times = Data.define(:rounds_count, :seconds, :warmup_s, :fresh)

        # One load's turns that somebody disturbed are taken again at once, so often in all. A round that stays disturbed is run again, up to so many,
        # as a share of those that were planned.
        TRIES_COUNT = 3
        EXTRA_RATIO = 0.5

        # That have an interval of 95%.
        LEAST_COUNT = 6

        # What the rounds gave: for each entrant's name and load, a Turn for each round.
        #
        # disturbed_count: rounds that count although they were disturbed; void_count: those that do not
        Rounds = Data.define(:turns, :disturbed_count, :void_count) do
          # @return [Lab::Ratios::OfRounds, nil] of the first entrant over the second
          def ratio(metric, asked, of:, over:) = of_pairs([over, of].map { |name| values(metric, name, asked) })

          # @return [Lab::Ratios::OfRounds, nil] of one entrant with one load over the same with another
          def ratio_of_loads(metric, name, of:, over:) = of_pairs([over, of].map { |asked| values(metric, name, asked) })

          def of_pairs(pairs) = (Lab::Ratios.of_pairs(*pairs) unless pairs.any?(&:empty?) || pairs.flatten.include?(nil))
          private :of_pairs

          # @return [Stats::Estimate, nil] middle and range of the rounds
          def estimate(metric, name, asked)
            all = values(metric, name, asked).compact
            Stats::Estimate.of_range(all) if all.any?
          end

          # @return [Array<Numeric, nil>]
          def values(metric, name, asked) = turns.fetch([name, asked], []).map { |turn| turn.value(metric) }

          # @return [Array<Asked>]
          def loads = turns.keys.map(&:last).uniq

          # @return [Array<String>]
          def names = turns.keys.map(&:first).uniq
        end

        # @param field [Field]
        # @param entrants [Array<Entrant>]
        # @param loads [Array<Asked>]
        # @param times [Times]
        # @param run [Lab::Run]
        # @param title [String] said before what is at hand
        def initialize(field, entrants, loads, times:, run:, title:)
          @field = field
          @entrants = entrants
          @loads = loads
          @times = times
          @run = run
          @title = title
        end

        # @return [Rounds]
        def call
          @rounds = []
          @times.fresh ? rounds { serving { |stands| round(stands) } } : serving { |stands| rounds { round(stands) } }
          counting = counting_rounds
          Rounds.new(turns: gathered(counting), disturbed_count: counting.count { |round| disturbed?(round) }, void_count: @rounds.size - counting.size)
        end

        private

        # Where too few are left for an interval, the disturbed ones count, and it is told: hours of other parts should not be lost.
        def counting_rounds
          good = @rounds.reject { |round| disturbed?(round) }
          (@run.busy_machine? || good.size < [LEAST_COUNT, @times.rounds_count].min) ? @rounds : good
        end

        def serving
          busiest = @loads.group_by(&:paths).map { |_, loads| loads.max_by(&:connections_count) }
          @field.serving(@entrants) do |stands|
            stands.product(busiest).each { |stand, asked| stand.warm_up(asked, @times.warmup_s) }
            yield stands
          end
        end

        def rounds
          most = (@times.rounds_count * (1 + EXTRA_RATIO)).ceil
          until enough?(most)
            @run.note("#{@title}, round #{@rounds.size + 1}")
            @rounds << Lab::Again.after_void(@run) { yield }
          end
        end

        def enough?(most)
          good_count = @run.busy_machine? ? @rounds.size : @rounds.count { |round| !disturbed?(round) }
          good_count >= @times.rounds_count || @rounds.size >= most
        end

        # In turn forwards and backwards: nobody always comes first.
        def round(stands)
          in_order = @rounds.size.odd? ? stands.reverse : stands
          @loads.map { |asked| undisturbed { turns(asked, in_order) } }.reduce(:merge)
        end

        def turns(asked, stands)
          stands.to_h { |stand| [[stand.entrant.name, asked], stand.turn(asked, @times.seconds, seed: @run.seed + @rounds.size)] }
        end

        # The last try counts, whatever became of it.
        def undisturbed
          left_count = @run.busy_machine? ? 1 : TRIES_COUNT
          loop do
            turns = yield
            return turns if (left_count -= 1).zero? || !disturbed?(turns)
          end
        end

        def disturbed?(turns) = turns.values.any?(&:disturbed)

        def gathered(rounds) = rounds.first.to_h.keys.to_h { |key| [key, rounds.map { |round| round.fetch(key) }] }
      end
    end
  end
end
