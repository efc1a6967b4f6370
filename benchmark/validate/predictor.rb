# frozen_string_literal: true

module Validation
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
      endpoint.with(demands:, mean_cpu_ns: longer.call(endpoint.mean_cpu_ns), mean_gc_ns: longer.call(endpoint.mean_gc_ns))
    end

    private

    def forecast(topology, arrivals) = sweeper.forecast(scenario(topology, arrivals))

    def sweeper(workload = @workload) = PumaTuner::Predict::Sweeper.new(workload:, machine: @machine, seed: SEED, stations: @stations, as_recorded: @as_recorded)

    def scenario(topology, arrivals) = PumaTuner::Predict::Scenario.of(topology, arrivals, timeslice_ms: @timeslice_ms)
  end
end
