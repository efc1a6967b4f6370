# frozen_string_literal: true

module PumaTuner
  module Report
    class Text
      # What the app demands whatever its settings: shown of a workload on its own, as a tuning shows what follows from it.
      class Demands < Section
        private

        def shown? = @contents.workload && !@contents.sweep

        def heading = "Demands: what a request needs when nobody is in its way"

        def lines
          table = table(["endpoint", "% of requests", "recorded", "cpu ms", "of it gc", "wait ms", "of it lock"])
          workload.endpoints.each { |endpoint| table << row(endpoint) }
          table.lines + [overhead, arrivals, time_slice, memory, rule_of_thumb, *unknown].compact.flat_map { |text| paragraph(text) }
        end

        def workload = @contents.workload

        def row(endpoint)
          [shortened(endpoint.name, 34), Figures.share(endpoint.weight_ratio), Figures.count(endpoint.demands.size),
            *[endpoint.mean_held_ns, endpoint.mean_gc_ns, endpoint.mean_wait_ns, endpoint.mean_lock_ns].map { |ns| Units.milliseconds(ns) }]
        end

        def overhead = "Puma's own CPU: #{Units.duration(workload.overhead_cpu_ns)} a request."

        def arrivals
          arrivals = workload.arrivals or return
          return "Arrivals: open loop (#{arrivals.kind}) of #{Units.rate(arrivals.rate_per_s)} requests/s, whatever the server does." if arrivals.open?
          "Arrivals: closed loop of #{Figures.counted(arrivals.connections_count, "connection")}, " \
            "#{Units.duration(arrivals.think_ns)} between an answer and the next request."
        end

        def time_slice = ("Time slice of the recorded server: #{workload.timeslice_ms} ms." if workload.timeslice_ms)

        def memory
          memory = workload.memory
          return "Memory: #{Units.mebibytes(memory.single_bytes)} in one process." if memory.single_bytes
          "Memory: #{Units.mebibytes(memory.shared_bytes)} shared, and #{Units.mebibytes(memory.per_worker_bytes)} for each worker."
        end

        def rule_of_thumb
          threads_count = RuleOfThumb.threads_count(workload.held_ratio) or return
          "Share of CPU: #{Units.percent(workload.held_ratio)}; the rule of thumb makes #{Figures.counted(threads_count, "thread")} of it."
        end

        def unknown = Unknowns.of(workload.unknown).map { |name, reason| "Unknown: #{name}: #{reason}." }
      end
    end
  end
end
