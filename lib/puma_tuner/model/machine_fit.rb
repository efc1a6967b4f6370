# frozen_string_literal: true

module PumaTuner
  module Model
    # Describes, for the simulation, what an app ran on: as calibrated, or by typical figures where nothing was; and by
    # what the observation itself tells of it.
    class MachineFit
      US = Units::NS_PER_MS / 1_000

      # We measured these on two cores of a shared server (AMD EPYC, Linux 6.18), Ruby 3.4.5, Puma 8.0.2, rounded; a
      # calibration on the machine itself replaces them. Ruby source for the tick: 10 ms in 3.3, 3.4 and 4.0; measured
      # 10.06 to 10.1. Cold cores: made apps whose work is known computed for 0.15 to 0.4 ms more after each wait of 2
      # to 5 ms that left the core idle, and for 0.5 to 0.7 ms more after one of 8.
      TYPICAL = Machine.new(
        cores_count: 1, effective_cores: [1.0].freeze, quota_ns: nil, period_ns: nil, tick_ns: 10_080 * US,
        handoff_ns: 16 * US, handoff_busy_ns: 5 * US,
        wakeup_idle_ns: [20 * US, 25 * US, 30 * US, 50 * US].freeze,
        wakeup_loaded_ns: [0, 45 * US, 500 * US, 1_500 * US].freeze,
        acceptor_cpu_ns: 40 * US, reactor_wakeup_cpu_ns: 20 * US, reactor_register_cpu_ns: 10 * US,
        tail_cpu_ns: 15 * US, client_send_cpu_ns: 8 * US, client_receive_cpu_ns: 8 * US, calibrated: nil,
        meeting_ratio: 0.5, cold_cpu_ns: 400 * US
      )

      # @param observation [Probe::Observation]
      # @param calibrated [Machine, nil] of `puma_tuner calibrate`; nil: typical figures stand in
      # @return [Machine]
      def self.machine(observation, calibrated: nil) = new(observation, calibrated:).machine

      # @param machine [Machine]
      # @return [Float] its own, or the typical one, as older calibrations lack it
      def self.meeting_ratio(machine) = machine.meeting_ratio || TYPICAL.meeting_ratio

      def initialize(observation, calibrated: nil)
        @observation = observation
        @base = calibrated || TYPICAL
      end

      # @return [Machine]
      def machine
        @base.with(cores_count:, effective_cores:, gvl_rule:, cold_cpu_ns:, **@observation.machine.quota, **client)
      end

      private

      def cores_count = @observation.machine.cores_count

      def cold_cpu_ns = @base.cold_cpu_ns || TYPICAL.cold_cpu_ns

      # A list that was measured on as many cores holds; else cores are taken to add up.
      def effective_cores
        return @base.effective_cores if @base.calibrated && @base.cores_count == cores_count
        (1..cores_count).map(&:to_f).freeze
      end

      # The rule counts when it was seen of the very build of Ruby that was observed: builds of one version differ in
      # it.
      def gvl_rule = (@base.gvl_rule if @base.calibrated&.same_ruby?(@observation.server.ruby_description))

      # Load of our own came from this machine; the user's traffic is taken to come from elsewhere.
      def client = @observation.load ? {} : {client_send_cpu_ns: 0, client_receive_cpu_ns: 0}
    end
  end
end
