# frozen_string_literal: true

module Validation
  # All that this benchmark knows of how to predict: from one recording of a subject, any cell of it.
  class Predictor
    SEED = 1

    class << self
      # @param journal [Journal]
      # @param subject [Subject]
      # @param topology [PumaTuner::Topology] of the recording
      # @return [Predictor, nil] nil when there is no recording
      def of(journal, subject, topology)
        observation = journal.document(Schedule.recording_name(subject, topology)) or return
        new(observation, machine: journal.document(machine_name(observation)), timeslice_ms: subject.timeslice_ms, stations: subject.workload.stations)
      end

      # @return [String] of a calibrated machine, in the journal
      def machine_name(observation) = "machine #{observation.server.ruby_version} #{observation.server.puma_version}"
    end

    # @param observation [PumaTuner::Measure::Observation] the recording
    # @param machine [PumaTuner::Model::Machine, nil] as calibrated; nil: typical figures
    # @param timeslice_ms [Integer]
    # @param stations [Array<PumaTuner::Predict::Station>]
    def initialize(observation, machine:, timeslice_ms:, stations: [])
      @timeslice_ms = timeslice_ms
      @stations = stations
      @workload = PumaTuner::Model::Fit.workload(observation)
      @machine = PumaTuner::Model::Fit.machine(observation, calibrated: machine)
      @as_recorded = [@workload, @machine].freeze
    end

    # @param slower_ratio [Float] how much longer the machine takes for the same work than while it was recorded, see Speed
    # @return [Predictor]
    def on_a_machine(slower_ratio)
      dup.tap { |predictor| predictor.slow_down(slower_ratio) }
    end

    # All that the server used for a request while it was recorded, with the GVL and without it.
    # @return [Float]
    def recorded_cpu_ns = @workload.mean_cpu_ns

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
      endpoint.with(demands:, mean_cpu_ns: longer.call(endpoint.mean_cpu_ns), mean_gc_ns: longer.call(endpoint.mean_gc_ns))
    end

    private

    def forecast(topology, arrivals)
      sweeper = PumaTuner::Predict::Sweeper.new(workload: @workload, machine: @machine, seed: SEED, stations: @stations, as_recorded: @as_recorded)
      sweeper.forecast(PumaTuner::Predict::Scenario.of(topology, arrivals, timeslice_ms: @timeslice_ms))
    end
  end
end
