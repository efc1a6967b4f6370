# frozen_string_literal: true

# Logs that were never a file: what a reader would have added up, of a service whose speed and traffic drift as a real
# one's do.
module MadeLogs
  include PumaTuner

  # Share of the requests, and the median of their times.
  ENDPOINTS = {"GET /articles/:id" => [0.7, 0.010], "GET /articles" => [0.2, 0.040], "POST /orders" => [0.1, 0.120]}.freeze

  # 10 o'clock of a Monday, UTC.
  MONDAY_S = Time.utc(2026, 3, 2, 10).to_i
  DAY_S = 86_400

  MadeLog = Data.define(:path, :tally, :left_out) do
    def initialize(left_out: {}, **) = super

    def format_name = "alb"
  end

  module_function

  # @param lasts_s [Numeric] for how long what disturbs the server lasts (the time constant of an AR(1) process)
  # @param shares [Hash{String => Float}] of endpoints; slower: {endpoint => factor}; failing_ratio: with status 500
  def log(random, begins_s: MONDAY_S, seconds: 3_600, per_s: 2, lasts_s: 5, drift: 0.1, shares: {}, slower: {}, failing_ratio: 0)
    tally = Compare::Tally.new(random:, resolution_ns: Units::NS_PER_MS)
    step_s = [seconds / 1_000, 1].max
    left = Math.exp(-step_s.fdiv(lasts_s))
    level = normal(random)
    shares = ENDPOINTS.transform_values(&:first).merge(shares)
    (0...seconds).step(step_s) do |second|
      level = left * level + Math.sqrt(1 - left**2) * normal(random)
      hour = Math.sin(2 * Math::PI * (begins_s + second) / DAY_S)
      wanted = per_s * step_s * (1 + 0.4 * hour)
      (wanted.floor + ((random.rand < wanted % 1) ? 1 : 0)).times do
        name = drawn(shares, random)
        took_s = ENDPOINTS.fetch(name).last * Math.exp(0.5 * normal(random) + drift * level) * (1 + 0.2 * hour) * slower.fetch(name, 1)
        at_ns = ((begins_s + second + random.rand * step_s) * Units::NS_PER_S).to_i
        tally.add(name, at_ns:, took_ns: (took_s * 1_000).round * Units::NS_PER_MS, status: (random.rand < failing_ratio) ? 500 : 200)
      end
    end
    MadeLog.new(path: "some.log", tally:)
  end

  def drawn(shares, random)
    left = random.rand
    shares.find { |_, share| (left -= share).negative? }&.first || shares.keys.last
  end

  def normal(random) = Math.sqrt(-2 * Math.log(1 - random.rand)) * Math.cos(2 * Math::PI * random.rand)

  # @return [Compare::Outcome]
  def compare(a, b, random, endpoints_max: 10)
    Compare::Comparer.new(a, b, seen_from: "app", random:, endpoints_max:, resolution_ns: Units::NS_PER_MS).call(command: "puma_tuner compare a.log b.log")
  end

  # @return [Array<Symbol>] outcomes of all rows that decide
  def outcomes(outcome) = [*outcome.rows, *outcome.endpoints.flat_map(&:rows)].filter_map(&:outcome)
end
