# frozen_string_literal: true

module PumaTuner
  module Compare
    # The logarithms of all ratios of b over a, for one drawing of blocks.
    #
    # They are about :all requests; about all at a's mix (:adjusted), and what the other mix changes (:mix); and about
    # each endpoint. At a's mix, each of b's requests counts as often as makes its endpoint's number that in a (direct
    # standardisation): what is then left of a difference is the endpoints' own.
    class Statistics
      # @return [Array<Array(Object, String)>] whom each number is about, and the metric
      attr_reader :keys

      # @param buckets [Array<Integer>] that Durations have
      # @param all [Array(Durations, Durations)] of both logs
      # @param errors [Array(Array<Tally::Cell>, Array<Tally::Cell>)] of both, by block
      # @param seconds [Array(Float, Float)] that each log is compared for
      # @param endpoints [Hash{String => Array(Durations, Durations)}]
      # @param told [Array<String>] endpoints that are told of
      # @param mixed [Array<String>] endpoints among which the mix is made equal; empty: it is not
      # @param mixed_together [Array(Durations, Durations)] of all these endpoints
      def initialize(buckets:, all:, errors:, seconds:, endpoints:, told:, mixed:, mixed_together:)
        @buckets = buckets
        @all = all
        @errors = errors
        @seconds = seconds
        @endpoints = endpoints
        @told = told
        @mixed = endpoints.values_at(*mixed)
        @mixed_together = mixed_together
        @once = Array.new(errors.first.size, 1)
        @mixed_metrics = @mixed.any? ? metrics(@all) : []
        @keys = make_keys
      end

      # @param weights [Array<Integer>] how often each block was drawn
      # @return [Array<Float, nil>] logarithms, in the order of the keys
      def call(weights)
        mixes = mixes(weights)
        @keys.map do |about, metric|
          %i[adjusted mix].include?(about) ? mixes[[about, metric]] : log(values(about, metric, weights))
        end
      end

      # @param about [Symbol, String] :all or an endpoint
      # @param metric [String]
      # @param weights [Array<Integer>]
      # @return [Array(Numeric, Numeric)] of a and b; nil where nobody knows
      def values(about, metric, weights = @once)
        return [0, 1].map { |side| share(side, metric, weights) } unless Comparer::METRICS.key?(metric)
        durations(about).map { |one| of([[one, 1]], metric, weights) }
      end

      private

      def durations(about) = (about == :all) ? @all : @endpoints.fetch(about)

      def make_keys
        [
          *[*metrics(@all), "failed", "refused", "rate"].map { |metric| [:all, metric] },
          *%i[adjusted mix].product(@mixed_metrics),
          *@told.flat_map { |name| metrics(@endpoints.fetch(name)).map { |metric| [name, metric] } }
        ]
      end

      def metrics(both) = Comparer::METRICS.keys.select { |metric| enough?(metric, both) }

      def enough?(metric, both)
        ratio = Comparer::METRICS.fetch(metric) or return true
        both.all? { |one| one.counts.sum * (1 - ratio) >= Comparer::BEYOND_MIN - 1e-9 }
      end

      # Errors and requests per second, of which there is one number for each block.
      def share(side, metric, weights)
        total = sum(side, weights, &:requests_count)
        return total / @seconds[side] if metric == "rate" && @seconds[side].positive?
        sum(side, weights, &:"#{metric}_count").fdiv(total) if metric != "rate" && total.positive?
      end

      def sum(side, weights) = @errors[side].each_with_index.sum { |cell, block| yield(cell) * weights[block] }

      def of(list, metric, weights)
        ratio = Comparer::METRICS.fetch(metric)
        ratio ? Durations.quantile_ns(list, ratio, @buckets, weights) : Durations.mean_ns(list, weights)
      end

      def mixes(weights)
        counts = @mixed.map { |both| both.map { |one| one.count(weights) } }
        return {} if @mixed.empty? || counts.any? { |_, two| two.zero? }
        at_a_mix = @mixed.zip(counts).map { |(_, two), (a_count, b_count)| [two, a_count.fdiv(b_count)] }
        a, own = @mixed_together.map { |one| [[one, 1]] }
        @mixed_metrics.flat_map { |metric|
          before, after, equal = [a, own, at_a_mix].map { |list| of(list, metric, weights) }
          [[[:adjusted, metric], log([before, equal])], [[:mix, metric], log([equal, after])]]
        }.to_h
      end

      def log((a, b)) = (Math.log(b.fdiv(a)) if a&.positive? && b&.positive?)
    end
  end
end
