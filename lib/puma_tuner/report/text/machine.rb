# frozen_string_literal: true

module PumaTuner
  module Report
    class Text
      # What a machine costs: shown of a calibration on its own.
      class Machine < Section
        # How many measurements each median is of; the calibration's own numbers, which a test compares.
        SAMPLES = {tick: "8 samples", handoff: "21 runs", cores: "7 rounds", puma: "5 turns", client: "5 turns", tail: "1 window"}.freeze

        private

        def shown? = @contents.machine && !@contents.sweep

        def heading = "Machine: what its cores, Ruby's threads and Puma itself cost"

        def lines
          [*paragraph(origin), *figures.lines, *cores.lines, *note(explanation)]
        end

        def machine = @contents.machine

        def calibrated = machine.calibrated

        def origin
          return "Typical figures, not measured here: puma_tuner calibrate." unless calibrated
          "#{calibrated.machine_key}; measured at #{calibrated.calibrated_at}."
        end

        def figures
          rows.each_with_object(table(["", "median", "<rests on", "<what it is"])) { |row, table| table << row }
        end

        def rows
          [
            row("tick", machine.tick_ns, :tick, "ten of them make a thread's time slice"),
            row("hand-over", machine.handoff_ns, :handoff, "of the GVL, from one thread to the next"),
            row("the same, busy", machine.handoff_busy_ns, :handoff, "with a busy process on all other cores"),
            wakeups("waking up, idle", machine.wakeup_idle_ns, "how late a sleeping thread gets a core"),
            wakeups("waking up, busy", machine.wakeup_loaded_ns, "the same of one that computes, among others"),
            row("acceptor", machine.acceptor_cpu_ns, :puma, "Puma's CPU for each new connection"),
            row("reactor, reads", machine.reactor_wakeup_cpu_ns, :puma, "Puma's CPU for a request that comes through it"),
            row("reactor, takes in", machine.reactor_register_cpu_ns, :puma, "Puma's CPU for giving the connection back to it"),
            row("tail", machine.tail_cpu_ns, :tail, "CPU of a pool thread, outside recorded requests"),
            row("client", machine.client_cpu_ns, :client, "the load generator's CPU for each request"),
            (row("round trip", calibrated.round_trip_ns, :client, "of a request to an app that does nothing") if calibrated)
          ].compact
        end

        def row(name, ns, kind, meaning) = [name, Units.duration(ns), calibrated ? SAMPLES.fetch(kind) : "typical", meaning]

        def wakeups(name, all_ns, meaning)
          median_ns = Stats::Quantile.of(all_ns, 0.5)
          [name, Units.duration(median_ns), "#{Units.duration(all_ns.first)} to #{Units.duration(all_ns.last)}", meaning]
        end

        # Of a big machine some, the ends among them.
        COLUMNS_MAX = 10

        def cores
          list = machine.effective_cores
          sizes = (list.size <= COLUMNS_MAX) ? (1..list.size).to_a : (0...COLUMNS_MAX).map { |index| 1 + (list.size - 1) * index / (COLUMNS_MAX - 1) }
          table(["busy processes", *sizes.map(&:to_s)]) << ["cores' worth of work", *sizes.map { |size| Figures.cores(list[size - 1]) }]
        end

        def explanation
          limit = "A quota of #{Units.duration(machine.quota_ns)} in each #{Units.duration(machine.period_ns)} is over all of it. " if machine.quota_ns
          "#{"Work: median of #{SAMPLES[:cores]}, by CPU time. " if calibrated}#{limit}How each is measured: docs/calibration.md."
        end
      end
    end
  end
end
