# frozen_string_literal: true

require_relative "../support/provenance"
require_relative "recorder"
require_relative "self_checks"
require_relative "table"
require_relative "twins"

module Validation
  # What is printed, and docs/validation.md. Generated; nothing in it is written by hand. Pure but for its date.
  class Page
    # @param facts [Hash] the journal's run
    # @param options [Options]
    # @param comparisons [Array<Comparison>] all that is told: from each recording, by wrk too; those held out only when they are to be looked at
    # @param judged [Array<Comparison>] those of them that the targets are about
    # @param of_picks [Array<Comparison>] all that was measured, as each setting can be the best
    # @param corrected [Array<Comparison>] undisturbed made cells, predicted for the machine as fast as it was meanwhile
    # @param verdicts [Array<Verdict>]
    # @param unmeasured [Hash{String => String}] subjects or cells that were asked for, with the reason
    # @param calibrated_at [Array<String>, nil] when the machine's figures were measured; nil where typical ones stand for them
    # @param twins [Array<Twins::Pair>]
    # @param looks [Array<Hash>] of the journal: when the cells that are held out were judged
    # @param at [Time]
    def initialize(facts:, options:, comparisons:, judged:, of_picks:, corrected:, verdicts:, unmeasured:, calibrated_at:, twins: [], looks: [], at: Time.now)
      @facts = facts
      @options = options
      @comparisons = comparisons
      @judged = judged
      @of_picks = of_picks
      @corrected = corrected
      @verdicts = verdicts
      @unmeasured = unmeasured
      @calibrated_at = calibrated_at
      @twins = Twins.new(twins)
      @looks = looks
      @at = at
    end

    # @return [String] the tables and what they rest on
    def results = [facts, *errors, *targets, *recordings, *picks, *self_checks, *by_wrk, *apart, *servers, *corrected, *cells, *disturbed, *unmeasured].join("\n\n")

    # @return [String] the whole page
    def to_s
      "#{[INTRO.strip, facts, *errors, *targets, *recordings, *picks, *self_checks, *by_wrk, *apart, *servers, *corrected, "## Workloads", workloads, "## How it is measured",
        METHOD.strip, *cells, *disturbed, *unmeasured].join("\n\n")}\n"
    end

    INTRO = <<~TEXT
      # Predictions against a real Puma

      Written by `benchmark/validate.rb`; not to be edited. To repeat it: the command below (`OPTIONS=--help` tells how to have less
      or more of it; `OPTIONS=--write` writes this page). What is predicted and how: [prediction.md](prediction.md).
    TEXT

    ERRORS = <<~TEXT
      An error is predicted over measured, less 1: median / 90th percentile / worst, in per cent. Beside ours what closed forms say of the same throughput. These are of the
      forecasts that a user gets: nothing was corrected afterwards, and every cell that was measured counts, those too that others on the machine disturbed. *Made* is the
      grid that the model was made with, and how wrong it is taken to be was set by it; nothing else was fitted to the other classes. The width is the median of half the
      95 % intervals, of the predicted value. A wait for the GVL that is off by less than 0.2 ms counts as right.
    TEXT

    TARGETS = <<~TEXT
      A target is missed when the errors as they are exceed it, whatever the noise. *Noise leaves
      open* what it would have come to were each truth at the near or the far end of what the cell's repeats and the number of its requests leave open
      (of the lost throughput: its 95 % interval; of a share of intervals: Wilson's). Where the far end lies beyond the errors by more than the target itself, the
      measurement was too noisy to say that the target is met; so it is where a share's interval reaches into the target and the share does not.
    TEXT

    RECORDINGS = <<~TEXT
      All cells of a class, predicted from each recording by itself. *Own* is the setting that the application comes with, and *+companions* the way of `tune`: with
      short recordings at other settings beside it. Where there are such, the targets are about them; the same recordings without them are told for comparison.
    TEXT

    PICKS = <<~TEXT
      Of each workload in the table as many clients were sent to so many settings, the same to each. *Recommended* is what `puma_tuner` recommends of these settings; a formula
      picks the fewest slots whose throughput comes within #{PumaTuner::Units.percent(Picks::EQUAL_RATIO)} of the best one predicted. Beside each pick: how much of the best measured throughput it
      loses, in per cent; for the recommended one with a 95 % interval (the repeats' common scatter; the best setting is looked for anew in each of #{Regret::DRAWS_COUNT} draws).
      *Measured* is the fewest slots by what was measured; a pick is *right* when it loses no more than #{PumaTuner::Units.percent(Picks::EQUAL_RATIO)} and has no more slots than that. In simulation the made grids
      tell the formulas apart (`test/benchmark/validate_test.rb`). Cells that are held out are among the settings.
    TEXT

    SELF_CHECKS = <<~TEXT
      Before it predicts, the tool simulates what was recorded and says where that is off. It should be loud where the errors elsewhere are beyond noise, and else silent.
      Beyond noise is what exceeds, in the median of the cells and with the measurement's interval taken off, what the model is usually wrong by
      (#{SelfChecks::USUAL_RATIOS.map { |metric, ratio| "#{ErrorTable::TITLES.fetch(metric)} #{format("%g", ratio * 100)} %" }.join(", ")}).
    TEXT

    BY_WRK = <<~TEXT
      The same applications, settings and number of clients, measured by wrk: a truth that shares no code with us (`OPTIONS="--generator wrk"`). Percentiles are wrk's own, with the
      samples that it invents taken out again. Nothing is judged by it.
    TEXT

    APART = <<~TEXT
      Two servers at the same settings, loaded in the same rounds: the one that recorded, with the probe, and the cell's, without. Their figures are apart by the median / 90th
      percentile / worst, in per cent. So much the machine and the start of a server do to a measurement, and no forecast can be told to be nearer.
    TEXT

    SERVERS = <<~TEXT
      Servers with the same settings, started one after the other in an order by chance with other cells between: how far their throughput is apart, the best over the worst. It is
      within the cells' intervals.
    TEXT

    CORRECTED = <<~TEXT
      **Not what a user gets.** The made cells less those that were disturbed, each predicted for the machine as fast as it was meanwhile, as neighbours make it 20 %
      slower and faster from minute to minute: where an app's work is a fixed number of turns of the loop, all CPU is scaled by what the cell's own requests took of
      it; for the others by the loop beside it. So this shows what the model gets wrong apart from the machine's drift; of a closed loop that keeps the GVL or the cores busy
      it leaves little to be wrong in the throughput, and nothing in the CPU per request, which is left out.
    TEXT

    METHOD = <<~TEXT
      - **Recordings** are made with each Ruby, Puma and time slice, by `puma_tuner measure` or as `puma_tuner tune` does, and the machine's own figures by
        `puma_tuner calibrate`. All cells are predicted from these, and nothing is set per cell or per app but the limit of `limited`, as `--station` would.
        Made workloads are recorded with as many connections as threads, the others with #{Grid::USUAL_CLIENTS_COUNT}, as their cells are loaded.
        (How wake-ups, hand-overs and answers are simulated was settled after earlier runs of the made grid; other machines have seen none of it.)
      - **A cell's name** is workload/Ruby/Puma/time slice in ms/workers x threads/load. *closed-2*: two connections for each thread, which
        send again as soon as they are answered; *clients-20*: 20 connections, whatever the settings; *wrk-20*: the same by wrk; *open-0.7*: Poisson arrivals at 70 % of the throughput
        predicted for a server that is never short of work. What is predicted of an open loop is the rate that chance then made of it; its throughput
        is what was sent to it, so throughput is judged in closed loops alone.
      - **Held out** are #{Grid::HELD_OUT_SETTINGS.join(" and ")} of each real application. They are measured with the others, and their errors are told only by `--held-out`,
        which notes who looked.
      - **The load** comes from our generator on the same cores, without the probe, each cell several times. Of made workloads one server stands at a time, its cells in turns. Of all
        others all servers stand **side by side**, those that record and those of the cells: warmed up, then loaded in turns, round after round, in an order by chance, so that
        what changes on the machine meanwhile meets recordings and cells alike. Each start of them is a group by itself.
        Then the probe is put into the running server, and a shorter load tells the wait for the GVL (but for the made cells that settings are picked from).
      - **CPU per request** is all that the server's processes used from before the first request to after the last, over all requests that they worked for meanwhile.
        Where it is off, the recording saw another machine (a neighbour on the same core, another clock rate) or other work; where it is right and the
        rest is off, the rules are.
      - **Disturbed** is decided by causes alone: CPU that others used (over #{PumaTuner::Units.percent(PumaTuner::Prove::Disturbance::FOREIGN_CPU_RATIO)} of the machine) or the hypervisor took
        (#{PumaTuner::Units.percent(PumaTuner::Prove::Disturbance::STOLEN_RATIO)}), a quota that was used up, a generator that was late or busy, and the machine's speed: a thread of ours runs the workloads' loop for half a
        millisecond ten times a second. Waiting for cores (PSI) is not among them, as server and generator make each other wait. A recording that others disturbed, or at
        #{PumaTuner::Units.percent(Speed::TOLERANCE_RATIO)} below the best speed, is made again, up to #{Recorder::ATTEMPTS_COUNT} times; a load that others disturbed, or at
        another speed than its recording, up to #{Session::EXTRA_COUNT} times. How far repeats are apart decides nothing. A database that a server's own `serve` has started is none of the others.
      - **Computing** is a number of turns of a Ruby loop, counted out once for the whole run; **waiting** is a poll of a pipe that nobody
        writes to. p99 needs #{Measured::P99_LEAST_COUNT} requests.
    TEXT
    private_constant :INTRO, :ERRORS, :TARGETS, :RECORDINGS, :PICKS, :SELF_CHECKS, :BY_WRK, :APART, :SERVERS, :CORRECTED, :METHOD

    private

    def facts
      machine = PumaTuner::Probe::MachineFacts.from_document(@facts.fetch("machine"))
      # Of what is recorded the page may be computed anew, by another commit.
      [Provenance.line(machine, at: @at, ruby: @facts.fetch("ruby")),
        "Measured from #{@facts.fetch("at")} on, with #{@facts.fetch("commit")}; #{@facts.fetch("turns_per_ms")} turns of the loop to a millisecond.",
        "Command: `#{@options.command}`; #{@calibrated_at ? "calibrated on this machine at #{@calibrated_at.join(", ")}" : "**not calibrated**: typical figures stand for the machine's own"}.",
        *looks].join("\n")
    end

    def looks
      return unless @options.held_out && @looks.any?
      first = @looks.first
      "Cells that were held out have been judged #{PumaTuner::Units.counted(@looks.size, "time")} by now, first at #{first.fetch("at")} with #{first.fetch("commit")}."
    end

    def errors
      ["## Errors by class of work, uncorrected", Table.verdict(@verdicts), *missing_count, ERRORS.strip, ErrorTable.new("class", of_kinds(@judged), verdicts: @verdicts).table || "Nothing was measured.",
        *by_application(@judged)]
    end

    def missing_count
      count = @unmeasured.size
      "**#{PumaTuner::Units.counted(count, "subject or cell", "subjects or cells")} could not be measured** (listed below)." if count.positive?
    end

    def by_application(comparisons)
      table = ErrorTable.new("workload", comparisons.group_by { |comparison| "#{comparison.cell.subject.workload_name}#{", held out" if comparison.kind.end_with?("held out")}" }, formulas: false).table
      ["### By workload", table] if table
    end

    # In the order of the classes.
    def of_kinds(comparisons)
      comparisons.group_by(&:kind).sort_by { |kind, _| [Workloads::KINDS.keys.index(kind[/\A[^,]+/]), kind] }.to_h
    end

    def targets
      ["## Targets", TARGETS.strip, Table.targets(@verdicts), *Table.missing(@verdicts)&.then { |lines| ["What misses:", lines] }]
    end

    def recordings
      own = @comparisons.reject { |comparison| comparison.cell.level.wrk? }
      groups = of_kinds(own).flat_map { |kind, of_kind| of_kind.group_by { |comparison| "#{kind}, #{place(comparison)}" }.sort.to_a }.to_h
      return if groups.size <= own.map(&:kind).uniq.size
      ["### By recording", RECORDINGS.strip, ErrorTable.new("class and recording", groups, formulas: false).table]
    end

    # Applications have different settings of their own.
    def place(comparison)
      at = comparison.recorded.at
      (at.topology.to_s == comparison.cell.subject.workload.own_topology) ? at.to_s.sub(/\A\w+/, "own") : at.to_s
    end

    def picks
      table = Table.new(@of_picks)
      ["## The best workers x threads", PICKS.strip, Table.new(Judge.judged(@of_picks)).pickers, table.picks] if table.picks
    end

    def self_checks
      checks = SelfChecks.new(@comparisons)
      ["## What the self-check said", SELF_CHECKS.strip, checks.summary, checks.table] if checks.table
    end

    def by_wrk
      sent = @comparisons.select { |comparison| comparison.cell.level.wrk? }
      groups = sent.group_by { |comparison| "#{comparison.cell.subject.workload_name}, #{comparison.recorded.at}" }
      table = ErrorTable.new("application and recording", groups, metrics: %i[throughput p50 p99]).table
      ["## By wrk in place of our generator", BY_WRK.strip, table] if table
    end

    def apart = @twins.table&.then { |table| ["## How far two servers with the same settings are apart", APART.strip, table, @twins.list] }

    def servers
      table = Table.new(@judged)
      [*table.starts&.then { |starts| ["## From one start to the next", SERVERS.strip, starts] }, *table.beside&.then { |beside| ["What runs beside a server for it, on the same cores:", beside] }]
    end

    def corrected
      return unless @options.kinds.include?("made")
      table = ErrorTable.new("class", {"made" => @corrected}, metrics: ErrorTable::TITLES.keys - [:cpu], formulas: false).table
      ["## Errors of made workloads, corrected for the machine's speed", CORRECTED.strip, table || "No cell was undisturbed."]
    end

    def workloads = Accuracy::Markdown.table(["class", "name", "a request is"], Workloads::ALL.map { |workload| [workload.kind, workload.name, workload.title] }, left_count: 3)

    def cells = Table.new(@comparisons).cells&.then { |table| ["## Cells", "Measured (interval) -> predicted (interval), error; uncorrected. A star marks what was disturbed.", table] }

    def disturbed = Table.new(@comparisons).disturbed&.then { |lines| ["## Disturbed cells", "They count in all but the corrected table.", lines] }

    def unmeasured = (["## What could not be measured", @unmeasured.map { |name, reason| "- #{name}: #{reason}" }.join("\n")] if @unmeasured.any?)
  end
end
