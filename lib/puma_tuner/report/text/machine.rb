# frozen_string_literal: true

module PumaTuner
  module Report
    class Text
      # What a machine costs: shown of a calibration on its own.
      class Machine < Section
        # How many measurements each median is of; the calibration's own numbers, which a test compares.
        SAMPLES = {tick: "8 samples", handoff: "21 runs", rule: "0.5 s", switch: "1.5 s", cores: "7 rounds", puma: "5 turns", client: "5 turns", tail: "1 window"}.freeze

        private

        def shown? = @contents.machine && !@contents.sweep

        def heading = "Machine: what its cores, Ruby's threads and Puma itself cost"

        def lines
          [*paragraph(origin), *figures.lines, *switch_costs, *cores.lines, *note(explanation)]
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
            rule,
            row("hand-over", machine.handoff_ns, :handoff, "of the GVL, from one thread to the next"),
            row("the same, busy", machine.handoff_busy_ns, :handoff, "with a busy process on all other cores"),
            *switches,
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

        RULES = {"fifo" => "first come, first served", "barging" => "whoever comes first takes it, and a waiter may be passed",
                 "hot" => "who returns from a short call takes it back"}.freeze
        private_constant :RULES

        def rule = (["GVL", machine.gvl_rule, SAMPLES.fetch(:rule), RULES.fetch(machine.gvl_rule)] if machine.gvl_rule)

        def switches
          return [] unless measured_switches?
          [row("switch", machine.switch_idle_cpu_ns, :switch, "CPU a burst takes more after another thread's"),
            row("the same, busy", machine.switch_busy_cpu_ns, :switch, "with a busy process on all other cores")]
        end

        def measured_switches? = calibrated&.switch_costs&.any?

        # By what each burst touches.
        def switch_costs
          return [] unless measured_switches?
          costs = calibrated.switch_costs
          rows = {"switch, on one core" => :same_core_ns, "switch, others idle" => :idle_ns, "switch, others busy" => :busy_ns}
          rows.each_with_object(table(["each burst touches", *costs.map { |cost| "#{cost.working_set_bytes / 1_024} KiB" }])) { |(name, field), table|
            table << [name, *costs.map { |cost| cost.public_send(field)&.then { |ns| Units.duration(ns) } || "unknown" }]
          }.lines
        end

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
          "#{"Work: of #{SAMPLES[:cores]}, by CPU time, one of the best. " if calibrated}#{limit}How each is measured: docs/calibration.md."
        end
      end
    end
  end
end
