# frozen_string_literal: true

module PumaTuner
  module Report
    module Sections
      # What the app demands whatever its settings: shown of a workload on its own, as a tuning shows what follows from
      # it.
      class Demands < Base
        # @param workload [Model::Workload]
        def initialize(workload)
          @workload = workload
        end

        # @return [Blocks::Section]
        def section
          columns = [Column.new("endpoint", length: 34), Column.new("% of requests", :share),
            Column.new("recorded", :count),
            *["cpu", "of it gc", "wait", "of it lock"].map { |name| Column.new(name, :duration) }]
          rows = @workload.endpoints.map do |endpoint|
            Row.new([endpoint.name, endpoint.weight_ratio, endpoint.demands.size, endpoint.mean_held_ns,
              endpoint.mean_gc_ns, endpoint.mean_wait_ns, endpoint.mean_lock_ns])
          end
          Section.new(id: "demands", title: "Service demand: what a request needs without contention",
            blocks: [Table.new(columns, rows, sortable: true, style: "dense"),
              *texts.map { |text| Paragraph.new(text) }])
        end

        private

        def texts = [overhead, arrivals, time_slice, memory, rule_of_thumb, *unknown].compact

        def overhead = "Puma's own CPU: #{Units.duration(@workload.overhead_cpu_ns)} a request."

        def arrivals
          arrivals = @workload.arrivals or return
          rate = "#{Units.rate(arrivals.rate_per_s)} requests/s" if arrivals.open?
          return "Arrivals: open loop (#{arrivals.kind}) of #{rate}, whatever the server does." if rate
          "Arrivals: closed loop of #{Figures.counted(arrivals.connections_count, "connection")}, " \
            "#{Units.duration(arrivals.think_ns)} between a response and the next request."
        end

        def time_slice = ("Time slice of the recorded server: #{@workload.timeslice_ms} ms." if @workload.timeslice_ms)

        def memory
          memory = @workload.memory
          return "Memory: #{Units.mebibytes(memory.single_bytes)} in one process." if memory.single_bytes
          "Memory: #{Units.mebibytes(memory.shared_bytes)} shared, and #{Units.mebibytes(memory.per_worker_bytes)} " \
            "for each worker."
        end

        def rule_of_thumb
          threads_count = RuleOfThumb.threads_count(@workload.held_ratio) or return
          "Share of CPU: #{Units.percent(@workload.held_ratio)}; the rule of thumb makes " \
            "#{Figures.counted(threads_count, "thread")} of it."
        end

        def unknown = Unknowns.of(@workload.unknown).map { |name, reason| "Unknown: #{name}: #{reason}." }
      end
    end
  end
end
