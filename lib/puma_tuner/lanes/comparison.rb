# frozen_string_literal: true

module PumaTuner
  module Lanes
    # A wait for the GVL: of whom, for how long, and who held it.
    #
    # from_ns: since the process began to record; work: what the thread served then, nil where nobody knows
    # holders: Probe::Lane, what it served and nanoseconds of each, longest first
    Wait = Data.define(:lane, :from_ns, :duration_ns, :work, :holders) do
      # @return [Integer] nanoseconds in which nobody had it: it was handed over, or who was next had no core
      def nobody_ns = [duration_ns - holders.sum(&:last), 0].max
    end

    # The lanes of one server, at one setting.
    #
    # recorded_at, command: of the recording; topology: nil where nobody knows
    # processes: those in which a request ended
    Recording = Document.define(:recorded_at, :command, :topology, :processes,
      nested: {topology: Topology, processes: [Probe::ProcessLanes]}) do
      # @param observation [Probe::Observation] with lanes
      # @return [Recording]
      def self.of(observation)
        new(recorded_at: observation.started_at, command: observation.command, topology: observation.topology,
          processes: observation.lanes)
      end

      # @return [Array<Probe::Lane>] of the pool, in all processes
      def pool = processes.flat_map(&:lanes).select(&:serves_requests)

      # @return [Hash{String => Integer}] what pool threads did, nanoseconds by kind of step
      def sums = pool.map(&:sums).reduce({}) { |one, other| one.merge(other) { |_, first, second| first + second } }

      # @return [Float, nil] of the time in which pool threads were not idle: that in which they waited for the GVL; nil
      #   where they always were
      def gvl_wait_ratio
        busy_ns = sums.except("idle").values.sum
        sums.fetch("gvl_wait", 0).fdiv(busy_ns) if busy_ns.positive?
      end

      # @return [Integer] the longest that a process recorded
      def duration_ns = processes.map(&:duration_ns).max || 0

      # @param lanes [Array<Probe::Lane>]
      # @return [Wait, nil] their longest wait for the GVL; nil without any
      def longest_wait(lanes = pool)
        waits = lanes.filter_map { |lane| longest_of(lane)&.then { |_, *span| [lane, *span] } }
        lane, from_ns, ns = waits.max_by(&:last)
        return unless lane
        process = processes.find { |one| one.lanes.any? { |other| other.equal?(lane) } }
        Wait.new(lane:, from_ns:, duration_ns: ns, work: process.work_at(lane, from_ns),
          holders: process.holders(lane, from_ns, from_ns + ns))
      end

      private def longest_of(lane)
        lane.each_step.select { |kind, _, _| kind == "gvl_wait" }.max_by(&:last)
      end
    end

    # Recordings of one app at several settings, or of several apps.
    Comparison = Document.define(:recordings, kind: :lanes, nested: {recordings: [Recording]}) do
      # @param observations [Array<Probe::Observation>] whose companions are taken, too
      # @return [Comparison] of those that have lanes
      def self.of(*observations)
        all = observations.flat_map { |observation| [observation, *observation.companions] }
        new(recordings: all.select { |observation| observation.lanes&.any? }.map { |one| Recording.of(one) }.freeze)
      end
    end
  end
end
