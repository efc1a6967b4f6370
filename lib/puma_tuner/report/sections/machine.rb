# frozen_string_literal: true

module PumaTuner
  module Report
    module Sections
      # What a machine costs: shown of a calibration on its own.
      class Machine < Base
        # How many measurements each median is of; the calibration's own numbers, which a test compares.
        SAMPLES = {tick: "8 samples", handoff: "21 runs", rule: "0.5 s", switch: "1.5 s", cores: "7 rounds",
                   puma: "5 turns", client: "5 turns", tail: "1 window", meetings: "2 windows"}.freeze

        RULES = {"fifo" => "first come, first served",
                 "barging" => "whoever comes first takes it, and a waiter may be passed",
                 "hot" => "who returns from a short call takes it back"}.freeze

        SWITCHES = {"switch, on one core" => :same_core_ns, "switch, others idle" => :idle_ns,
                    "switch, others busy" => :busy_ns}.freeze

        # Of a big machine some, the ends among them.
        COLUMNS_MAX = 10
        private_constant :RULES, :SWITCHES, :COLUMNS_MAX

        # @param machine [Model::Machine]
        def initialize(machine)
          @machine = machine
        end

        # @return [Blocks::Section]
        def section
          Section.new(id: "costs", title: "Machine: what its cores, Ruby's threads and Puma itself cost",
            blocks: [Paragraph.new(origin), figures, *(switch_costs if measured_switches?), cores,
              Note.new(explanation)])
        end

        private

        def calibrated = @machine.calibrated

        def origin
          return "Typical figures, not measured here: puma_tuner calibrate." unless calibrated
          "#{calibrated.machine_key}; measured at #{calibrated.calibrated_at}."
        end

        def figures
          columns = [Column.new(""), Column.new("median", :figure), Column.new("rests on"), Column.new("what it is")]
          Table.new(columns, rows.compact.map { |cells| Row.new(cells) })
        end

        def rows
          [
            row("tick", @machine.tick_ns, :tick, "ten of them make a thread's time slice"),
            (["GVL", @machine.gvl_rule, SAMPLES.fetch(:rule), RULES.fetch(@machine.gvl_rule)] if @machine.gvl_rule),
            row("hand-over", @machine.handoff_ns, :handoff, "of the GVL, from one thread to the next"),
            row("the same, busy", @machine.handoff_busy_ns, :handoff, "with a busy process on all other cores"),
            *switches,
            wakeups("waking up, idle", @machine.wakeup_idle_ns, "how late a sleeping thread gets a core"),
            wakeups("waking up, busy", @machine.wakeup_loaded_ns, "the same of one that computes, among others"),
            ["sharing a core", Units.percent(Model::MachineFit.meeting_ratio(@machine)),
              measured_meetings? ? SAMPLES.fetch(:meetings) : "typical",
              "how often threads of two workers do, over chance"],
            row("acceptor", @machine.acceptor_cpu_ns, :puma, "Puma's CPU for each new connection"),
            row("reactor, reads", @machine.reactor_wakeup_cpu_ns, :puma,
              "Puma's CPU for a request that comes through it"),
            row("reactor, takes in", @machine.reactor_register_cpu_ns, :puma,
              "Puma's CPU for giving the connection back to it"),
            row("tail", @machine.tail_cpu_ns, :tail, "CPU of a pool thread, outside recorded requests"),
            row("client", @machine.client_cpu_ns, :client, "the load generator's CPU for each request"),
            *round_trip
          ]
        end

        def round_trip
          calibrated ? [row("round trip", calibrated.round_trip_ns, :client,
            "of a request to an app that does nothing")] : []
        end

        def row(name, ns, kind, meaning)
          [name, Units.duration(ns), calibrated ? SAMPLES.fetch(kind) : "typical", meaning]
        end

        def switches
          return [] unless measured_switches?
          [row("switch", @machine.switch_idle_cpu_ns, :switch, "CPU a burst takes more after another thread's"),
            row("the same, busy", @machine.switch_busy_cpu_ns, :switch, "with a busy process on all other cores")]
        end

        def measured_switches? = calibrated&.switch_costs&.any?

        # Where one core alone can be busy there is none beside it that could be idle (Calibrate::Run). Older
        # calibrations did not measure it anywhere.
        def measured_meetings?
          calibrated && @machine.meeting_ratio && [@machine.cores_count, @machine.quota_cores&.floor].compact.min >= 2
        end

        # By what each burst touches.
        def switch_costs
          costs = calibrated.switch_costs
          columns = [Column.new("each burst touches"),
            *costs.map { |cost| Column.new("#{cost.working_set_bytes / 1_024} KiB", :duration_with_unit) }]
          rows = SWITCHES.map do |name, field|
            Row.new([name, *costs.map { |cost| cost.public_send(field) || "unknown" }])
          end
          Table.new(columns, rows)
        end

        def wakeups(name, all_ns, meaning)
          [name, Units.duration(Stats::Quantile.of(all_ns, 0.5)),
            "#{Units.duration(all_ns.first)} to #{Units.duration(all_ns.last)}", meaning]
        end

        def cores
          list = @machine.effective_cores
          sizes = (0...COLUMNS_MAX).map { |index| 1 + (list.size - 1) * index / (COLUMNS_MAX - 1) }
          sizes = (1..list.size).to_a if list.size <= COLUMNS_MAX
          Table.new([Column.new("busy processes"), *sizes.map { |size| Column.new(size.to_s, :cores) }],
            [Row.new(["cores' worth of work", *sizes.map { |size| list[size - 1] }])])
        end

        def explanation
          quota, period = [@machine.quota_ns, @machine.period_ns].map { |ns| Units.duration(ns) }
          [("Work: of #{SAMPLES[:cores]}, by CPU time, one of the best." if calibrated),
            ("A quota of #{quota} in each #{period} is over all of it." if @machine.quota_ns),
            "How each is measured: docs/internals/calibration.md."].compact.join(" ")
        end
      end
    end
  end
end
