# frozen_string_literal: true

require_relative "schedule"

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
    def unpredicted = @failure || PumaTuner::Report::Statements.words(@forecast&.unsteady)

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

  # All that this benchmark knows of how to predict: from one recording of a subject, any cell of it.
  class Predictor
    SEED = 1

    class << self
      # @param journal [Journal]
      # @param subject [Subject]
      # @param recorded_at [RecordedAt]
      # @return [Predictor, nil] nil when there is no such recording
      def of(journal, subject, recorded_at)
        observation = observation(journal, subject, recorded_at) or return
        new(observation, machine: journal.document(machine_name(observation)), timeslice_ms: subject.timeslice_ms, stations: subject.workload.stations)
      end

      # What a recording alone tells is known of one that has companions, too: with them left out.
      # @return [PumaTuner::Probe::Observation, nil]
      def observation(journal, subject, recorded_at)
        found = journal.document(Schedule.recording_name(subject, recorded_at))
        return found if found || recorded_at.companions
        journal.document(Schedule.recording_name(subject, recorded_at.with(companions: true)))&.with(companions: [].freeze)
      end

      # @return [String] of a calibrated machine, in the journal
      def machine_name(observation) = "machine #{observation.server.ruby_version} #{observation.server.puma_version}"
    end

    # @param observation [PumaTuner::Probe::Observation] the recording
    # @param machine [PumaTuner::Model::Machine, nil] as calibrated; nil: typical figures
    # @param timeslice_ms [Integer]
    # @param stations [Array<PumaTuner::Predict::Station>]
    def initialize(observation, machine:, timeslice_ms:, stations: [])
      @timeslice_ms = timeslice_ms
      @stations = stations
      @workload = PumaTuner::Model::WorkloadFit.workload(observation)
      ensure_recorded_waits
      @machine = PumaTuner::Model::MachineFit.machine(observation, calibrated: machine)
      @as_recorded = [@workload, @machine].freeze
    end

    # @param slower_ratio [Float] how much longer the machine takes for the same work than while it was recorded, see Speed
    # @return [Predictor]
    def on_a_machine(slower_ratio)
      dup.tap { |predictor| predictor.slow_down(slower_ratio) }
    end

    # All that the server used for a request while it was recorded, with the GVL and without it.
    # @return [Float]
    def recorded_cpu_ns = @workload.mean_held_ns

    # @param cell [Cell]
    # @param measured [Measured] for the load that there was
    # @return [PumaTuner::Predict::Forecast]
    def of(cell, measured)
      measured.open? ? open_loop(cell.topology, measured.offered_per_s, measured.connections_count) : closed_loop(cell.topology, measured.connections_count)
    end

    # @param topology [PumaTuner::Topology]
    # @param connections_count [Integer]
    # @return [PumaTuner::Predict::Forecast]
    def closed_loop(topology, connections_count) = forecast(topology, PumaTuner::Model::Arrivals.closed(connections_count))

    # @param rate_per_s [Numeric]
    # @param connections_count [Integer] that may be open at most
    # @return [PumaTuner::Predict::Forecast]
    def open_loop(topology, rate_per_s, connections_count) = forecast(topology, PumaTuner::Model::Arrivals.open(rate_per_s, connections_count:))

    # As `tune` does it: all settings in one sweep, and what comes of it beside the figures.
    # @param topologies [Array<PumaTuner::Topology>]
    # @param connections_count [Integer]
    # @return [PumaTuner::Predict::Sweep]
    def sweep(topologies, connections_count)
      arrivals = PumaTuner::Model::Arrivals.closed(connections_count)
      # Recorded with as many clients as threads, a made workload is recommended settings for those that come.
      sweeper(@workload.with(arrivals:)).call([@workload.observed_topology, *topologies].uniq.map { |topology| scenario(topology, arrivals) })
    end

    # @param sweep [PumaTuner::Predict::Sweep] of it
    # @return [PumaTuner::Topology] that is recommended
    def advised(sweep) = PumaTuner::Advise::Advisor.new.call(@workload.with(arrivals: sweep.arrivals), sweep).recommendation&.topology || sweep.today

    # What a server is predicted to answer when it is never short of work: rates of open loads are shares of it.
    # @return [Float] requests per second
    def capacity_per_s(topology) = closed_loop(topology, 4 * topology.slots_count).throughput_per_s.value

    protected

    # All CPU, garbage collection too, Puma's and the generator's.
    def slow_down(ratio)
      longer = ->(ns) { ns && (ns * ratio).round }
      @workload = @workload.with(endpoints: @workload.endpoints.map { |endpoint| slower(endpoint, longer) }, overhead_cpu_ns: longer.call(@workload.overhead_cpu_ns),
        tail_cpu_ns: longer.call(@workload.tail_cpu_ns))
      names = %i[acceptor_cpu_ns reactor_wakeup_cpu_ns reactor_register_cpu_ns tail_cpu_ns client_send_cpu_ns client_receive_cpu_ns]
      @machine = @machine.with(**names.to_h { |name| [name, longer.call(@machine.public_send(name))] })
    end

    def slower(endpoint, longer)
      demands = endpoint.demands.map { |demand| demand.with(bursts_ns: demand.bursts_ns.map(&longer), gc_ns: longer.call(demand.gc_ns)) }
      endpoint.with(demands:, mean_held_ns: longer.call(endpoint.mean_held_ns), mean_gc_ns: longer.call(endpoint.mean_gc_ns))
    end

    private

    # A station that nobody comes to would look like one that is no bottleneck (as `predict --station` refuses it).
    def ensure_recorded_waits
      missing = @stations.map(&:kind) - @workload.endpoints.flat_map(&:demands).flat_map(&:served_kinds)
      return if missing.empty?
      raise PumaTuner::InvalidMeasurement, "no recorded request waits for the #{missing.first} that is limited; --fresh records anew"
    end

    def forecast(topology, arrivals) = sweeper.forecast(scenario(topology, arrivals))

    def sweeper(workload = @workload) = PumaTuner::Predict::Sweeper.new(workload:, machine: @machine, seed: SEED, stations: @stations, as_recorded: @as_recorded)

    def scenario(topology, arrivals) = PumaTuner::Predict::Scenario.of(topology, arrivals, timeslice_ms: @timeslice_ms)
  end

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
      Bench::Markdown.table(["class", "pairs", *METRICS.keys.map { |name| "#{name} apart %" }], rows, left_count: 1)
    end

    # @return [String, nil]
    def list
      rows = @pairs.map { |pair| [pair.subject.workload_name, pair.topology.to_s, *METRICS.keys.map { |name| change(pair.ratios[name]) }] }
      Bench::Markdown.table(["workload", "setting", *METRICS.keys.map { |name| "#{name}%" }], rows, left_count: 2) if rows.any?
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
