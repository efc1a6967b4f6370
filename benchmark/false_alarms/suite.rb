# frozen_string_literal: true

%w[options condition layout interval methods plans tally simulation tail neighbour table page].each { |name| require_relative name }

module FalseAlarms
  # A whole run: simulates, prints, judges.
  class Suite
    PAGE = File.expand_path("../../docs/false_alarms.md", __dir__)

    # @param options [Options]
    def initialize(options)
      @options = options
    end

    # @return [Integer] the exit status
    def run
      simulations = of_each_condition(Simulation)
      tails = of_each_condition(Tail)
      beside = Neighbour::ALL.each_with_index.map { |neighbour, index| Neighbour::Simulation.new(neighbour, repeats_count: @options.repeats_count, seed: @options.seed + index).run }
      broken = Suite.broken(simulations, tails) + beside.flat_map(&:broken)
      page = Page.new(options: @options, simulations:, tails:, beside:, broken:)
      puts page.results
      File.write(PAGE, page.to_s) if @options.write
      broken.empty? ? 0 : 1
    end

    # @return [Array<String>] where ours calls more differences than promised
    def self.broken(simulations, tails)
      tallies = simulations.flat_map do |simulation|
        [*Simulation::ROUNDS_COUNTS.map { |count| ["#{simulation.condition.name}, #{count} rounds", simulation.fixed(Methods::Ours, count)] },
          ["#{simulation.condition.name}, looks", simulation.plan(Plans::Ours)]]
      end
      tallies += tails.map { |tail| ["#{tail.condition.name}, p99", tail.tally(:by_round)] }
      tallies.select { |_, tally| tally.broken? }.map { |what, tally| "#{what}: #{format("%.1f", tally[:false_alarm] * 100)} % false alarms" }
    end

    private

    def of_each_condition(kind)
      Condition::ALL.each_with_index.map do |condition, index|
        kind.new(condition, repeats_count: @options.repeats_count, seed: @options.seed + index).run
      end
    end
  end
end
