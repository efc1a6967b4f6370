# frozen_string_literal: true

module FalseAlarms
  # Others on the machine, and whole proofs beside them: rounds by PumaTuner's own code, with the rule by which disturbed rounds are
  # run again and the one by which hopeless proofs end.
  #
  # turns_count: in which the two variants take turns in a round; 1: one after the other, as slow apps need it
  # own: share that the other variant makes others take, by itself
  # shares: random -> an endless series of the machine's shares that others take, one for each turn
  Neighbour = Data.define(:name, :description, :turns_count, :shares, :own) do
    def initialize(turns_count: 8, own: 0.0, **fields) = super
  end

  class Neighbour
    # The hypervisor takes about as much all the time.
    STEADY = lambda do |random|
      Enumerator.produce { (0.10 + 0.04 * Chance.normal(random)).clamp(0.0, 0.9) }
    end

    # Something short and heavy, now and then.
    BURSTS = lambda do |random|
      Enumerator.produce { (random.rand < 0.15) ? 0.2 + 0.4 * random.rand : 0.03 * random.rand }
    end

    # On and off for two rounds or three.
    COMES_AND_GOES = lambda do |random|
      busy = false
      Enumerator.produce do
        busy = !busy if random.rand < 1 / 40.0
        (busy ? 0.35 : 0.02) + 0.02 * random.rand
      end
    end

    ALL = [
      new(name: "steady", description: "10% of the machine is taken all the time, scattering by 4% from turn to turn", shares: STEADY),
      new(name: "bursts", description: "in 15% of the turns 20 to 60% is taken, else up to 3%", shares: BURSTS),
      new(name: "bursts, no turns", description: "the same with an app too slow to take turns", turns_count: 1, shares: BURSTS),
      new(name: "comes and goes", description: "a neighbour takes 35% for some 40 turns, then nothing for as many", shares: COMES_AND_GOES),
      new(name: "bursts, and a database", description: "bursts, while the database of one variant takes 8% of the machine more", shares: BURSTS, own: 0.08),
      new(name: "comes and goes, no turns", description: "the same with an app too slow to take turns; a turn is as long as a trial then", turns_count: 1,
        shares: COMES_AND_GOES)
    ].freeze

    # Proofs beside such a neighbour, over and over: of equal variants, and of two of which one is faster.
    class Simulation
      ROUNDS_COUNT = 12
      EFFECT = Math.log(1.1)

      # How often an effect of 10% must be seen.
      SHOWN_RATIO = 0.8

      # What a fresh process is off by, for itself.
      PROCESS_SD = 0.015

      VARIANTS = %w[one other].map { |name| PumaTuner::Prove::Variant.new(name:) }.freeze
      METRICS = PumaTuner::Prove::Metric::SERVED.first(1).freeze
      LOOKS = PumaTuner::Prove::Looks.fixed(ROUNDS_COUNT)

      attr_reader :neighbour, :tally

      # @param neighbour [Neighbour]
      def initialize(neighbour, repeats_count:, seed:)
        @neighbour = neighbour
        @repeats_count = repeats_count
        @random = Random.new(seed)
        @tally = Tally.new
      end

      # @return [self]
      def run
        @repeats_count.times do
          (equal, equal_rounds), (faster, rounds) = [0.0, EFFECT].map { |effect| proof(effect) }
          again = [equal_rounds, rounds].sum { |one| one.trials.each_slice(2).count { |attempt| attempt.any?(&:void) } } / 2.0
          @tally.add(false_alarm: equal.excludes?(0.0), shown: faster.excludes?(0.0), covered: !faster.excludes?(EFFECT), again:)
        end
        self
      end

      # @return [Array<String>] promises that were not kept, by more than chance explains
      def broken
        chance, shown_chance = [0.05, SHOWN_RATIO].map { |ratio| Tally::DEVIATIONS * Math.sqrt(ratio * (1 - ratio) / tally.count) }
        [
          ("#{@neighbour.name}: #{format("%.1f", tally[:false_alarm] * 100)}% false alarms" if tally.broken?),
          ("#{@neighbour.name}: the interval holds the truth in #{format("%.1f", tally[:covered] * 100)}%" unless tally[:covered].between?(0.94 - chance, 0.96 + chance)),
          ("#{@neighbour.name}: 10% is seen in #{format("%.1f", tally[:shown] * 100)}% only" if tally[:shown] < SHOWN_RATIO - shown_chance)
        ].compact
      end

      private

      # @return [Array(Interval, PumaTuner::Prove::Rounds)]
      def proof(effect)
        disturbance = PumaTuner::Prove::Disturbance.new(VARIANTS, planned_count: ROUNDS_COUNT)
        rounds = PumaTuner::Prove::Rounds.new(variants: VARIANTS, looks: LOOKS, trial_runner: Runner.new(@neighbour, effect, @random), random: @random,
          marked: disturbance.method(:mark))
        pairs = PumaTuner::Prove::PairedValues.new(rounds.call, 2).pairs("one", "other", "throughput")
        ratio = PumaTuner::Stats::PairedRatio.of(*pairs)
        [Interval.new(low: Math.log(ratio.low), high: Math.log(ratio.high)), rounds]
      end
    end

    # Servers whose speed is what others leave of the machine.
    class Runner
      # How far the kernel's counts are off, which are all that a proof sees of the neighbours.
      COUNTED_SD = 0.01

      def initialize(neighbour, effect, random)
        @turns_count = neighbour.turns_count
        @shares = neighbour.shares.call(random)
        @own = neighbour.own
        @effect = effect
        @random = random
      end

      def expected_s = 0.0

      # Turns are taken in order, then in reverse, as Prove::TrialRunner has them.
      def together(order, round:)
        shares = order.to_h { |variant| [variant, []] }
        @turns_count.times { |number| (number.odd? ? order.reverse : order).each { |variant| shares[variant] << @shares.next } }
        order.each_with_index.map { |variant, position| trial(variant, round, position, shares[variant].sum / @turns_count) }
      end

      private

      def trial(variant, round, position, taken)
        speed = Math.log(1 - taken) + Simulation::PROCESS_SD * Chance.normal(@random) + ((variant.name == "other") ? @effect : 0)
        counted = [taken + COUNTED_SD * Chance.normal(@random) + ((variant.name == "other") ? @own : 0), 0].max
        PumaTuner::Prove::Trial.new(variant: variant.name, round:, position:, requests_count: 1_000, values: {"throughput" => 100 * Math.exp(speed)},
          conditions: {"foreign_cpu_ratio" => counted})
      end
    end
  end
end
