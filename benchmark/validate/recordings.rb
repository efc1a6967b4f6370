# frozen_string_literal: true

require_relative "../support/markdown"
require_relative "judge"

module Validation
  # Does it matter at which topology a subject was recorded? Predictions of the same cells from recordings made at several.
  # Pure.
  class Recordings
    METRICS = %i[throughput p50 p99 gvl_wait].freeze

    # @param by_topology [Hash{PumaTuner::Topology => Array<Comparison>}] the same cells, from each recording; the first is the
    #   one that the others are held against
    def initialize(by_topology)
      @by_topology = by_topology
    end

    # @return [String, nil] nil of a single recording
    def table
      return if @by_topology.size < 2
      first, *others = @by_topology.keys
      rows = others.flat_map { |topology| METRICS.filter_map { |metric| row(first, topology, metric) } }
      Accuracy::Markdown.table(["recorded at", "instead of", "metric", "median apart %", "worst apart %", "intervals overlap %", "cells"], rows, left_count: 3)
    end

    private

    def row(first, other, metric)
      pairs = pairs(@by_topology.fetch(first), @by_topology.fetch(other), Comparison::METRICS.fetch(metric))
      return if pairs.empty?
      apart = pairs.map { |one, two| (value(two) / value(one).to_f - 1).abs }
      overlaps = pairs.reject { |pair| pair.any?(Numeric) }.map { |one, two| one.low <= two.high && two.low <= one.high }
      [other.to_s, first.to_s, Table::TITLES.fetch(metric), Table.percent(Judge::MEDIAN.call(apart)), Table.percent(apart.max),
        overlaps.empty? ? "-" : Table.percent(overlaps.count(true).fdiv(overlaps.size)), pairs.size.to_s]
    end

    # Where both have a figure that can be divided by.
    def pairs(some, others, figure)
      by_cell = others.to_h { |comparison| [comparison.cell, comparison.forecast&.then(&figure)] }
      some.filter_map do |comparison|
        one, two = comparison.forecast&.then(&figure), by_cell[comparison.cell]
        [one, two] if one && two && value(one).positive?
      end
    end

    def value(figure) = figure.is_a?(Numeric) ? figure : figure.value
  end
end
