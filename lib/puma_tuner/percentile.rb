# frozen_string_literal: true

module PumaTuner
  # Percentiles by their names, such as "p95" and "p99.9".
  module Percentile
    # Those that every forecast tells, with an interval that shows how little may stand behind them.
    ALWAYS = %w[p50 p90 p99].freeze

    NAME = /\Ap(?<number>(?=.*[1-9])\d{1,2}(?:\.\d{1,4})?)\z/

    module_function

    def name?(text) = NAME.match?(text)

    # @param name [String]
    # @return [Rational] 999/1000 of "p99.9"
    def ratio(name) = Rational(name[NAME, :number]) / 100

    # @param names [Array<String>] of which others are passed over
    # @return [String] the lowest percentile of them that is not below it, else the highest
    def among(names, name)
      sorted = names.select { |other| name?(other) }.sort_by { |other| ratio(other) }
      sorted.find { |other| ratio(other) >= ratio(name) } || sorted.last
    end
  end
end
