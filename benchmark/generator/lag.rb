# frozen_string_literal: true

require_relative "hello"

module GeneratorBenchmark
  # Part 2: how much later than intended requests leave, on a machine that the generator shares with the server.
  class Lag
    ROUNDS_COUNT = 12
    LOAD_S = 5
    WARM_UP_S = 1
    CONNECTIONS_COUNT = 200
    RATES_PER_S = [500, 2_000, 5_000].freeze

    TITLE = "Send lag"
    METHOD = <<~TEXT
      Poisson arrivals for #{LOAD_S} s, up to #{CONNECTIONS_COUNT} connections, to the same Puma on the same cores; each rate once a round. The lag is from the
      instant at which a request was meant to leave to the call that sends it, of requests that had a connection then. Shown are
      medians over the rounds, with their range. Latency counts from the intended instant, so the lag is a part of it.
    TEXT

    # outcomes: one a round
    Series = Data.define(:rate_per_s, :outcomes)

    # @return [Array<Series>]
    attr_reader :series

    def initialize(rounds_count:, quick:)
      @rounds_count = rounds_count || (quick ? 2 : ROUNDS_COUNT)
      @load_s = quick ? 1 : LOAD_S
      @series = RATES_PER_S.map { |rate_per_s| Series.new(rate_per_s:, outcomes: []) }
    end

    def run
      Hello.puma do |url|
        load(url, RATES_PER_S.max, WARM_UP_S)
        @rounds_count.times do |round|
          warn "lag: round #{round + 1} of #{@rounds_count}"
          @series.rotate(round).each { |series| series.outcomes << load(url, series.rate_per_s, @load_s, seed: round + 1) }
        end
      end
    end

    private

    def load(url, rate_per_s, duration_s, seed: 1)
      PumaTuner::Load::Native.new.run(mix: PumaTuner::Load::Mix.of_paths(["/"]), url_base: url, connections_count: CONNECTIONS_COUNT,
        duration_s:, seed:, arrivals: PumaTuner::Load::Arrivals.open(rate_per_s)).insist_on_expected_answers
    end
  end
end
