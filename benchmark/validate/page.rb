# frozen_string_literal: true

require_relative "judge"
require_relative "measurement"

module Validation
  # Errors of several groups of cells side by side: ours, beside what formulas say of the same throughput; how often intervals held, and how wide
  # they are; and the targets. Pure.
  class ErrorTable
    TITLES = {throughput: "throughput", p50: "p50", p99: "p99", gvl_wait: "GVL wait", mean: "mean latency", cpu: "CPU per request"}.freeze
    OUTCOMES = {met: "met", missed: "**missed**", noisy: "too noisy to say", unmeasured: "not measured"}.freeze

    # @param heading [String] of the groups' names
    # @param groups [Hash{String => Array<Comparison>}]
    # @param metrics [Array<Symbol>]
    # @param formulas [Boolean] whether with those
    # @param verdicts [Array<Verdict>] of groups that are classes of work; without any there are no targets to be shown
    def initialize(heading, groups, metrics: Judge::METRICS, formulas: true, verdicts: [])
      @heading = heading
      @groups = groups
      @metrics = metrics
      @formulas = formulas ? Comparison::FORMULAS.keys : []
      @verdicts = verdicts
    end

    # @return [String, nil] nil without any error to be told
    def table
      rows = @groups.flat_map { |name, comparisons| @metrics.filter_map { |metric| row(name, comparisons, metric) } }
      Bench::Markdown.table(headings, rows, left_count: 2) if rows.any?
    end

    # @param ratio [Float, nil]
    # @return [String] as per cent
    def self.percent(ratio) = ratio ? format("%.1f", ratio * 100) : "-"

    # As they are judged.
    # @param errors [Array<Error>]
    # @return [String] "2.1 / 8.0 / 14.2"
    def self.statistics(errors)
      ratios = errors.map { |error| Judge.forgiven?(error) ? 0.0 : error.ratio.abs }
      ratios.empty? ? "-" : [Judge::MEDIAN, Judge::P90, Judge::WORST].map { |statistic| percent(statistic.call(ratios)) }.join(" / ")
    end

    private

    def headings
      [@heading, "metric", "errors %", "mean, signed %", *@formulas, "in the 95% interval", "its width ± %", *(["targets", "outcome"] if @verdicts.any?), "cells"]
    end

    def row(name, comparisons, metric)
      errors = comparisons.filter_map { |comparison| comparison.errors[metric] }
      return if errors.empty?
      [name, TITLES.fetch(metric), self.class.statistics(errors), Bench::Markdown.signed(errors.sum(&:ratio) / errors.size * 100), *formulas(comparisons, metric), coverage(errors),
        width(errors), *(targets(name, metric) if @verdicts.any?), errors.size.to_s]
    end

    def formulas(comparisons, metric)
      @formulas.map { |formula| (metric == :throughput) ? self.class.statistics(comparisons.filter_map { |comparison| comparison.formula_errors[formula] }) : "" }
    end

    # How many of the predicted intervals hold what was measured, and that share with its own interval.
    def coverage(errors)
      covered = errors.map(&:covered?).compact
      return "-" if covered.empty?
      share = PumaTuner::Stats::Wilson.interval(covered.count(true), covered.size)
      "#{covered.count(true)} of #{covered.size}: #{self.class.percent(share.value)} (#{self.class.percent(share.low)} to #{self.class.percent(share.high)})"
    end

    def width(errors)
      widths = errors.map(&:width_ratio).compact
      widths.empty? ? "-" : self.class.percent(Judge::MEDIAN.call(widths))
    end

    def targets(name, metric)
      verdicts = @verdicts.select { |verdict| verdict.kind == name && verdict.metric == metric }
      return ["-", "-"] if verdicts.empty?
      [Judge::TARGETS.fetch(name).select { |target| target.metric == metric }.map { |target| "#{target.statistic.title[/\A\S+/]} #{format("%g", target.ratio * 100)}" }.join(", "),
        verdicts.map { |verdict| OUTCOMES.fetch(verdict.outcome) }.uniq.join(", ")]
    end
  end

  # The tables that people read, but for those of errors. Pure.
  class Table
    MISSING_SHOWN = 12

    # Shown of each cell; the mean is only in the summaries.
    SHOWN = %i[throughput p50 p99 gvl_wait cpu].freeze

    # @param comparisons [Array<Comparison>]
    def initialize(comparisons)
      @comparisons = comparisons
    end

    # @param verdicts [Array<Verdict>]
    # @return [String]
    def self.targets(verdicts)
      rows = verdicts.map do |verdict|
        [verdict.claim, verdict.target, percent(verdict.value_ratio), range_percent(verdict.least_ratio, verdict.most_ratio), verdict.cells_count.to_s,
          ErrorTable::OUTCOMES.fetch(verdict.outcome)]
      end
      Bench::Markdown.table(["target", "it is", "came to %", "noise leaves open %", "cells", "outcome"], rows)
    end

    # @param verdicts [Array<Verdict>]
    # @return [String] in a sentence
    def self.verdict(verdicts)
      count = ->(outcome) { verdicts.count { |verdict| verdict.outcome == outcome } }
      noisy, unmeasured = count.call(:noisy), count.call(:unmeasured)
      ["**#{count.call(:missed)} of #{PumaTuner::Units.counted(verdicts.size, "target")} are missed**",
        *("#{noisy} could not be judged, as the measurement was too noisy" if noisy.positive?),
        *("#{unmeasured} could not be judged, as nothing was measured that they are about" if unmeasured.positive?)].join("; ").concat(".")
    end

    # @param verdicts [Array<Verdict>]
    # @return [String, nil] which cells miss
    def self.missing(verdicts)
      lines = verdicts.select { |verdict| verdict.missed? && verdict.missing.any? }.flat_map do |verdict|
        shown = verdict.missing.first(MISSING_SHOWN).map { |key, ratio| "  - #{key}#{" (#{Bench::Markdown.signed(ratio * 100)}%)" unless key.include?(": ")}" }
        rest = verdict.missing.size - shown.size
        ["- #{verdict.claim}:", *shown, *("  - and #{rest} more" if rest.positive?)]
      end
      lines.join("\n") if lines.any?
    end

    # @return [String] ratios as per cent
    def self.percent(ratio) = ErrorTable.percent(ratio)

    # @return [String] both ends as per cent
    def self.range_percent(low, high) = (low && high) ? "#{percent(low)} to #{percent(high)}" : "-"

    # @return [String, nil] whose picks are right, ours and the formulas'
    def pickers
      rows = [["recommended", nil], *Comparison::FORMULAS.keys.map { |name| [name, name] }].filter_map do |title, formula|
        picks = Picks.of(@comparisons, formula:)
        next if picks.empty?
        [title, "#{picks.count(&:right?)} of #{picks.size}", percent(picks.map { |pick| pick.regret.value }.max), picks.sum { |pick| [pick.spare_count, 0].max }.to_s]
      end
      Bench::Markdown.table(["picked by", "right picks", "worst pick loses %", "slots too many"], rows) if rows.any?
    end

    # @return [String, nil] what would have been picked, and what would have been lost
    def picks
      by_formula = Comparison::FORMULAS.keys.to_h { |name| [name, Picks.of(@comparisons, formula: name).to_h { |pick| [pick.group, pick] }] }
      rows = Picks.of(@comparisons).map do |pick|
        [pick.group, pick.needed.to_s, lost(pick, interval: true), *by_formula.each_value.map { |picks| lost(picks[pick.group]) }, pick.topologies_count.to_s]
      end
      Bench::Markdown.table(["cells", "measured", "recommended", *Comparison::FORMULAS.keys, "of"], rows) if rows.any?
    end

    # @return [String, nil] how far servers with the same settings are apart, that were started one after the other
    def starts
      rows = @comparisons.group_by { |comparison| comparison.cell.subject }.filter_map do |subject, of_subject|
        spreads = of_subject.uniq(&:cell).filter_map { |comparison| comparison.measured.start_spread_ratio }
        [subject.key, percent(Judge::MEDIAN.call(spreads)), percent(spreads.max), spreads.size.to_s] if spreads.any?
      end
      Bench::Markdown.table(["cells", "starts apart, median %", "at most %", "cells"], rows) if rows.any?
    end

    # @return [String, nil] the CPU of what runs beside servers for them
    def beside
      rows = @comparisons.group_by { |comparison| comparison.cell.subject }.filter_map do |subject, of_subject|
        costs = of_subject.uniq(&:cell).filter_map { |comparison| comparison.measured.beside_cpu_ns }
        next if costs.empty?
        server = of_subject.filter_map { |comparison| comparison.measured.cpu&.value }
        [subject.key, number(Judge::MEDIAN.call(costs), PumaTuner::Units::NS_PER_MS), number(Judge::MEDIAN.call(server), PumaTuner::Units::NS_PER_MS)]
      end
      Bench::Markdown.table(["cells", "beside it, CPU per request ms", "server, CPU per request ms"], rows) if rows.any?
    end

    # @return [String, nil] every cell; a star marks the disturbed ones
    def cells
      rows = @comparisons.map { |comparison| ["#{comparison.name}#{" *" if comparison.disturbed}", *SHOWN.map { |metric| figures(comparison, metric) }] }
      Bench::Markdown.table(["cell", "requests/s", "p50 ms", "p99 ms", "GVL wait ms", "CPU per request ms"], rows) if rows.any?
    end

    # @return [String, nil] which cells were disturbed, and by what
    def disturbed
      lines = @comparisons.filter_map { |comparison| "- #{comparison.name}: #{comparison.disturbed}" if comparison.disturbed }
      lines.join("\n") if lines.any?
    end

    private

    def percent(ratio) = self.class.percent(ratio)

    # "2x3: 4.1 (0.0 to 7.2)"
    def lost(pick, interval: false)
      return "-" unless pick
      "#{pick.picked}: #{percent(pick.regret.value)}#{" (#{self.class.range_percent(pick.regret.low, pick.regret.high)})" if interval}"
    end

    # "measured (low to high) -> predicted (low to high), error"
    def figures(comparison, metric)
      error = comparison.errors[metric] or return comparison.measured.public_send(metric) ? "not predicted" : "-"
      scale = (metric == :throughput) ? 1 : PumaTuner::Units::NS_PER_MS
      predicted = error.predicted.is_a?(Numeric) ? number(error.predicted, scale) : range(error.predicted, scale)
      "#{range(error.measured, scale)} -> #{predicted}, #{Bench::Markdown.signed(error.ratio * 100)}%"
    end

    def range(estimate, scale) = "#{number(estimate.value, scale)} (#{number(estimate.low, scale)} to #{number(estimate.high, scale)})"

    def number(value, scale) = PumaTuner::Units.significant(value.fdiv(scale))
  end

  # Did the self-check tell the user? What it said of each recording, beside the errors that its forecasts then had in cells that it knows nothing of. Pure.
  #
  # It is to be silent where errors are within noise and loud where they are not. They are beyond noise where, in the median of the cells, they exceed what the
  # model is usually wrong by, with what the measurement leaves open taken off.
  class SelfChecks
    # Of the model at large: Predict::Uncertainty's.
    USUAL_RATIOS = {throughput: 0.04, p50: 0.10, p99: 0.15}.freeze

    # What was said of one recording. beyond: metrics whose errors are beyond noise
    Said = Data.define(:subject, :at, :loud, :text, :comparisons, :beyond) do
      # @return [Boolean] whether it said what there was
      def right? = loud == beyond.any?

      def outcome
        return "right" if right?
        loud ? "a false alarm" : "**silent**"
      end
    end

    # @param comparisons [Array<Comparison>] of our generator and of wrk
    def initialize(comparisons)
      @comparisons = comparisons
    end

    # @return [Array<Said>] none where this version has no self-check
    def said
      @said ||= @comparisons.select { |comparison| comparison.recorded.self_check.respond_to?(:off) && !comparison.cell.level.wrk? }
        .group_by { |comparison| [comparison.cell.subject, comparison.recorded.at] }.map { |(subject, at), of_recording| one(subject, at, of_recording) }
    end

    # @return [String, nil] in a sentence
    def summary
      return if said.empty?
      loud, silent = said.partition(&:loud)
      "Of #{PumaTuner::Units.counted(said.size, "recording")} it was loud at #{loud.size} (#{loud.count(&:right?)} of them with errors beyond noise) and silent at " \
        "#{silent.size} (#{silent.count(&:right?)} of them with errors within noise)."
    end

    # @return [String, nil]
    def table
      rows = said.map do |one|
        [one.subject.key, one.at.to_s, one.loud ? "loud" : "silent", *USUAL_RATIOS.keys.map { |metric| ErrorTable.statistics(errors(one.comparisons, metric)) },
          one.beyond.any? ? one.beyond.map { |metric| ErrorTable::TITLES.fetch(metric) }.join(", ") : "nothing", one.outcome, one.text]
      end
      Bench::Markdown.table(["cells", "recorded at", "it was", *USUAL_RATIOS.keys.map { |metric| "#{ErrorTable::TITLES.fetch(metric)} errors %" }, "beyond noise", "that is", "it said"], rows, left_count: 3) if rows.any?
    end

    private

    def one(subject, at, comparisons)
      check = comparisons.first.recorded.self_check
      figures = check.off.flat_map(&:off).map(&:to_s)
      beyond = USUAL_RATIOS.select { |metric, ratio| errors(comparisons, metric).map(&:least_ratio).then { |ratios| ratios.any? && Judge::MEDIAN.call(ratios) > ratio } }.keys
      Said.new(subject:, at:, loud: figures.any?, text: figures.any? ? figures.join("; ") : "the recording is reproduced", comparisons:, beyond:)
    end

    def errors(comparisons, metric) = comparisons.filter_map { |comparison| comparison.errors[metric] }
  end

  # What is printed, and docs/measured/validation.md. Generated; nothing in it is written by hand. Pure but for its date.
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
      or more of it; `OPTIONS=--write` writes this page). What is predicted and how: [prediction.md](../internals/prediction.md).
    TEXT

    ERRORS = <<~TEXT
      An error is predicted over measured, less 1: median / 90th percentile / worst, in per cent. Beside ours what closed forms say of the same throughput. These are of the
      forecasts that a user gets: nothing was corrected afterwards, and every cell that was measured counts, those too that others on the machine disturbed. *Made* is the
      grid that the model was made with. How wrong the model is taken to be was set by the median errors of an earlier medium run over all classes. The width is the median of half the
      95% intervals, of the predicted value. A wait for the GVL that is off by less than 0.2 ms counts as right.
    TEXT

    TARGETS = <<~TEXT
      A target is missed when the errors as they are exceed it, whatever the noise. *Noise leaves
      open* what it would have come to were each truth at the near or the far end of what the cell's repeats and the number of its requests leave open
      (of the lost throughput: its 95% interval; of a share of intervals: Wilson's). Where the far end lies beyond the errors by more than the target itself, the
      measurement was too noisy to say that the target is met; so it is where a share's interval reaches into the target and the share does not.
    TEXT

    RECORDINGS = <<~TEXT
      All cells of a class, predicted from each recording by itself. *Own* is the setting that the application comes with, and *+companions* the way of `tune`: with
      short recordings at other settings beside it. Where there are such, the targets are about them; the same recordings without them are told for comparison.
    TEXT

    PICKS = <<~TEXT
      Of each workload in the table as many clients were sent to so many settings, the same to each. *Recommended* is what `puma_tuner` recommends of these settings; a formula
      picks the fewest slots whose throughput comes within #{PumaTuner::Units.percent(Picks::EQUAL_RATIO)} of the best one predicted. Beside each pick: how much of the best measured throughput it
      loses, in per cent; for the recommended one with a 95% interval (the repeats' common scatter; the best setting is looked for anew in each of #{Regret::DRAWS_COUNT} draws).
      *Measured* is the fewest slots by what was measured; a pick is *right* when it loses no more than #{PumaTuner::Units.percent(Picks::EQUAL_RATIO)} and has no more slots than that. In simulation the made grids
      tell the formulas apart (`test/benchmark/validate_test.rb`). Cells that are held out are among the settings.
    TEXT

    SELF_CHECKS = <<~TEXT
      Before it predicts, the tool simulates what was recorded and says where that is off. It should be loud where the errors elsewhere are beyond noise, and else silent.
      Beyond noise is what exceeds, in the median of the cells and with the measurement's interval taken off, what the model is usually wrong by
      (#{SelfChecks::USUAL_RATIOS.map { |metric, ratio| "#{ErrorTable::TITLES.fetch(metric)} #{format("%g", ratio * 100)}%" }.join(", ")}).
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
      **Not what a user gets.** The made cells less those that were disturbed, each predicted for the machine as fast as it was meanwhile, as neighbours make it 20%
      slower and faster from minute to minute: where an app's work is a fixed number of turns of the loop, all CPU is scaled by what the cell's own requests took of
      it; for the others by the loop beside it. So this shows what the model gets wrong apart from the machine's drift; of a closed loop that keeps the GVL or the cores busy
      it leaves little to be wrong in the throughput, and nothing in the CPU per request, which is left out.
    TEXT

    METHOD = <<~TEXT
      - **Recordings** are made with each Ruby, Puma and time slice, by `puma_tuner measure` or as `puma_tuner tune` does, and the machine's own figures by
        `puma_tuner calibrate`. All cells are predicted from these, and nothing is set per cell or per app but the limit of `limited`, as `--station` would.
        Made workloads are recorded with as many connections as threads, the others with #{Grid::USUAL_CLIENTS_COUNT}, as their cells are loaded.
        (How wake-ups, hand-overs and responses are simulated was settled after earlier runs of the made grid; other machines have seen none of it.)
      - **A cell's name** is workload/Ruby/Puma/time slice in ms/workers x threads/load. *closed-2*: two connections for each thread, which
        send again as soon as they are answered; *clients-20*: 20 connections, whatever the settings; *wrk-20*: the same by wrk; *open-0.7*: Poisson arrivals at 70% of the throughput
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
        writes to. `limited` alone asks a process outside of the server, on the same cores, and waits in a blocking read. What that process
        has counted must be what was sent: each request once, and as many places in use at once as the settings allow. p99 needs
        #{Measured::P99_LEAST_COUNT} requests.
    TEXT
    private_constant :INTRO, :ERRORS, :TARGETS, :RECORDINGS, :PICKS, :SELF_CHECKS, :BY_WRK, :APART, :SERVERS, :CORRECTED, :METHOD

    private

    def facts
      machine = PumaTuner::Probe::MachineFacts.from_document(@facts.fetch("machine"))
      # Of what is recorded the page may be computed anew, by another commit.
      [Bench::Provenance.line(machine, at: @at, ruby: @facts.fetch("ruby")),
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

    def workloads = Bench::Markdown.table(["class", "name", "a request is"], Workloads::ALL.map { |workload| [workload.kind, workload.name, workload.title] }, left_count: 3)

    def cells = Table.new(@comparisons).cells&.then { |table| ["## Cells", "Measured (interval) -> predicted (interval), error; uncorrected. A star marks what was disturbed.", table] }

    def disturbed = Table.new(@comparisons).disturbed&.then { |lines| ["## Disturbed cells", "They count in all but the corrected table.", lines] }

    def unmeasured = (["## What could not be measured", @unmeasured.map { |name, reason| "- #{name}: #{reason}" }.join("\n")] if @unmeasured.any?)
  end
end
