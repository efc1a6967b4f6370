# frozen_string_literal: true

module PumaTuner
  module Report
    # Threads that serve no requests, and take the GVL from those that do. Most of their time they are idle in a lock, in IO
    # or asleep, which tells nothing: only what they take is shown.
    module Background
      # Ratios to the window. gvl: what they may have held the GVL for, cpu and gc; nil where unknown
      Row = Data.define(:name, :gvl, :cpu, :gc, :gvl_wait)

      # Less is not worth a line.
      LEAST_RATIO = 0.001

      module_function

      # @param observation [Probe::Observation]
      # @return [Array<Row>] who takes most first
      def rows(observation)
        # Threads of the same name in several workers are one; each worker has a GVL.
        window_ns = observation.duration_ns * workers_count(observation)
        observation.background.filter_map { |thread| row(thread, window_ns) }
          .select { |row| row.gvl >= LEAST_RATIO }.sort_by { |row| [-row.gvl, row.name] }
      end

      # @param observation [Probe::Observation]
      # @return [Integer] processes that serve
      def workers_count(observation) = [observation.processes.count { |process| process.role != "master" }, 1].max

      # @return [String] what the ratios are of
      def whole(observation)
        count = workers_count(observation)
        (count > 1) ? "the window, mean of #{count} processes" : "the window"
      end

      def row(thread, window_ns)
        budget = thread.budget
        cpu, gc, gvl_wait = [budget.cpu_ns, budget.gc_ns, budget.gvl_wait_ns].map { |ns| ns&.fdiv(window_ns) }
        Row.new(name: thread.name, gvl: cpu + (gc || 0), cpu:, gc:, gvl_wait:) if cpu
      end
      private_class_method :row
    end
  end
end
