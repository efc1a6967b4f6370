# frozen_string_literal: true

require_relative "grid"
require_relative "measured"

module Validation
  # One metric of one cell: measured beside predicted.
  #
  # metric: of Comparison::METRICS; measured: Estimate; predicted: Estimate, or a bare number that has no interval
  Error = Data.define(:cell_key, :metric, :measured, :predicted) do
    def predicted_value = predicted.is_a?(Numeric) ? predicted : predicted.value

    # @return [Float] signed, of the measured value
    def ratio = measured.value.zero? ? 0.0 : predicted_value.fdiv(measured.value) - 1

    # @return [Float] what is left of it beyond the measurement's own interval; 0 within
    def least_ratio = of_measured([measured.low - predicted_value, predicted_value - measured.high, 0].max)

    # @return [Float] what it would be were the truth at that interval's far end
    def most_ratio = of_measured([measured.high - predicted_value, predicted_value - measured.low].max)

    # @return [Numeric] in the metric's unit
    def absolute = (predicted_value - measured.value).abs

    # @return [Boolean, nil] whether the predicted interval holds the measured value; nil without one
    def covered? = (predicted.covers?(measured.value) unless predicted.is_a?(Numeric))

    # @return [Float, nil] half the predicted interval, of the predicted value; nil without one
    def width_ratio = (((predicted.high - predicted.low) / 2).fdiv(predicted.value) unless predicted.is_a?(Numeric) || predicted.value.zero?)

    private

    def of_measured(distance) = measured.value.zero? ? 0.0 : distance.fdiv(measured.value)
  end

  # What a subject's cells were predicted from, and what was said beside the figures.
  #
  # at: RecordedAt; void: what disturbed the recording, a clause or nil; advised: the settings that are recommended, a Topology, nil where there was
  #   nothing to choose from; self_check: Predict::SelfCheck, nil where there is none
  Recorded = Data.define(:at, :void, :advised, :self_check) do
    def initialize(at:, void: nil, advised: nil, self_check: nil) = super
  end

  # One cell: measured beside predicted, and beside what formulas say.
  class Comparison
    # In the table's order. Throughput is of closed loops only: an open one has what it is sent.
    METRICS = {
      throughput: :throughput_per_s.to_proc, p50: :p50_ns.to_proc, p99: :p99_ns.to_proc, gvl_wait: :gvl_wait_ns.to_proc, mean: :mean_ns.to_proc,
      cpu: ->(forecast) { forecast.cores_used && forecast.cores_used / forecast.throughput_per_s.value * PumaTuner::Units::NS_PER_S }
    }.freeze

    FORMULAS = {"bound" => :bound_per_s, "Amdahl" => :amdahl_per_s, "mean value analysis" => :mva_per_s,
                "flow-equivalent server" => :flow_equivalent_per_s, "100 / CPU %" => :cpu_share_per_s}.freeze

    # @return [Cell]
    attr_reader :cell

    # @return [Measured]
    attr_reader :measured

    # @return [PumaTuner::Predict::Forecast, nil]
    attr_reader :forecast

    # @return [Recorded]
    attr_reader :recorded

    # @param cell [Cell]
    # @param measured [Measured]
    # @param forecast [PumaTuner::Predict::Forecast, nil] nil when it could not be predicted
    # @param recorded [Recorded]
    # @param failure [String, nil] why not
    def initialize(cell:, measured:, forecast:, recorded:, failure: nil)
      @cell = cell
      @measured = measured
      @forecast = forecast
      @recorded = recorded
      @failure = failure
    end

    # @return [String] the cell's name and where it was predicted from
    def name = "#{@cell.key}#{" from #{@recorded.at}" unless @cell.subject.workload.made?}"

    # @return [String] class of work; cells that are held out or were sent by wrk are told apart
    def kind
      kind = @cell.subject.workload.kind
      return "#{kind}, by wrk" if @cell.level.wrk?
      Grid.held_out?(@cell) ? "#{kind}, held out" : kind
    end

    # @return [String, nil] what disturbed the cell or its recording, as a clause; it counts all the same
    def disturbed = @recorded.void || @measured.disturbed

    # @return [String, nil] why there is no prediction of a cell that has one to be held against, as a clause
    def unpredicted = @failure || @forecast&.unsteady

    # @return [Hash{Symbol => Error}] by metric, of those that both sides have
    def errors
      @errors ||= METRICS.filter_map { |metric, figure|
        measured, predicted = @measured.public_send(metric), @forecast && figure.call(@forecast)
        [metric, Error.new(cell_key: name, metric:, measured:, predicted:)] if measured && predicted
      }.to_h
    end

    # @return [Hash{String => Error}] of the throughput, by formula
    def formula_errors
      measured = @measured.throughput
      return {} unless measured && @forecast&.closed_forms
      FORMULAS.filter_map { |formula, field|
        predicted = @forecast.closed_forms.public_send(field)
        [formula, Error.new(cell_key: name, metric: :throughput, measured:, predicted:)] if predicted
      }.to_h
    end
  end
end
