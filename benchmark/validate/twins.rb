# frozen_string_literal: true

require_relative "../support/markdown"

module Validation
  # Two servers at the same settings, loaded in the same rounds: the one that recorded, with the probe, and a cell's, without. How far they are apart
  # is what the machine and the start of a server do to a measurement, and no forecast can be told to be nearer than that.
  class Twins
    METRICS = {"throughput" => :throughput, "p50" => :p50, "p99" => :p99}.freeze

    Pair = Data.define(:subject, :topology, :ratios)

    # @param subject [Subject]
    # @param observation [PumaTuner::Probe::Observation] recorded side by side with the cells
    # @param measured [Hash{PumaTuner::Topology => Measured}]
    # @return [Array<Pair>] of each recorded setting that was measured, too
    def self.of(subject, observation, measured)
      [observation, *observation.companions].filter_map do |recording|
        cell = measured[recording.topology] or next
        recorded = {"throughput" => recording.load.throughput_per_s, "p50" => recording.load.p50_ns, "p99" => recording.load.p99_ns}
        ratios = METRICS.to_h { |name, metric| [name, cell.public_send(metric)&.then { |estimate| recorded.fetch(name)&.fdiv(estimate.value) }] }
        Pair.new(subject:, topology: recording.topology, ratios:)
      end
    end

    # @param pairs [Array<Pair>]
    def initialize(pairs)
      @pairs = pairs
    end

    # @return [String, nil] by class of work; nil where there are none
    def table
      return if @pairs.empty?
      rows = @pairs.group_by { |pair| pair.subject.workload.kind }.map { |kind, pairs| [kind, pairs.size.to_s, *METRICS.keys.map { |name| summary(pairs, name) }] }
      Accuracy::Markdown.table(["class", "pairs", *METRICS.keys.map { |name| "#{name} apart %" }], rows, left_count: 1)
    end

    # @return [String, nil]
    def list
      rows = @pairs.map { |pair| [pair.subject.workload_name, pair.topology.to_s, *METRICS.keys.map { |name| change(pair.ratios[name]) }] }
      Accuracy::Markdown.table(["workload", "setting", *METRICS.keys.map { |name| "#{name} %" }], rows, left_count: 2) if rows.any?
    end

    private

    # As errors are told.
    def summary(pairs, name)
      apart = pairs.filter_map { |pair| pair.ratios[name] }.map { |ratio| (ratio - 1).abs }.sort
      return "-" if apart.empty?
      [0.5, 0.9].map { |share| format("%.1f", 100 * PumaTuner::Stats::Quantile.of(apart, share)) }.push(format("%.1f", 100 * apart.last)).join(" / ")
    end

    def change(ratio) = ratio ? format("%+.1f", 100 * (ratio - 1)) : "-"
  end
end
