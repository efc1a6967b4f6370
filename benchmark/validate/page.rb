# frozen_string_literal: true

require_relative "../support/provenance"
require_relative "recorder"
require_relative "recordings"
require_relative "table"

module Validation
  # What is printed, and docs/validation.md. Generated; nothing in it is written by hand. Pure but for its date.
  class Page
    # @param facts [Hash] the journal's run
    # @param options [Options]
    # @param by_topology [Hash{PumaTuner::Topology => Array<Comparison>}] by the recording's topology; the first is judged
    # @param corrected [Array<Comparison>] undisturbed cells, predicted for the machine as fast as it was meanwhile
    # @param verdicts [Array<Verdict>]
    # @param unmeasured [Hash{String => String}] subjects or cells that were asked for, with the reason
    # @param calibrated_at [Array<String>, nil] when the machine's figures were measured; nil where typical ones stand for them
    # @param at [Time]
    def initialize(facts:, options:, by_topology:, corrected:, verdicts:, unmeasured:, calibrated_at:, at: Time.now)
      @facts = facts
      @options = options
      @by_topology = by_topology
      @corrected = corrected
      @verdicts = verdicts
      @unmeasured = unmeasured
      @calibrated_at = calibrated_at
      @at = at
      @table = Table.new(by_topology.values.first)
    end

    # @return [String] the tables and what they rest on
    def results = [facts, *targets, *errors, *picks, *corrected, *recordings, *cells, *disturbed, *unmeasured].join("\n\n")

    # @return [String] the whole page
    def to_s
      "#{[INTRO.strip, facts, *targets, *errors, *picks, *corrected, *recordings, "## Workloads", workloads, "## How it is measured", METHOD.strip, *cells,
        *disturbed, *unmeasured].join("\n\n")}\n"
    end

    INTRO = <<~TEXT
      # Predictions against a real Puma

      Written by `benchmark/validate.rb`; not to be edited. To repeat it: the command below (`OPTIONS=--help` tells how to have less
      or more of it; `OPTIONS=--write` writes this page). What is predicted and how: [prediction.md](prediction.md).
    TEXT

    TARGETS = <<~TEXT
      An error is predicted over measured, less 1. These are of the forecasts that a user gets: nothing was corrected afterwards, and every cell that was
      measured counts, those too that others on the machine disturbed. A target is missed when the errors as they are exceed it, whatever the noise. *Noise leaves
      open* what it would have come to were each truth at the near or the far end of what the cell's repeats and the number of its requests leave open
      (of the lost throughput: its 95 % interval). Where the far end lies beyond the errors by more than the target itself, the measurement was too noisy to say that the target is met.
    TEXT

    PICKS = <<~TEXT
      Of each workload in the table the same #{Grid::PICK_LEVEL.factor} clients were sent to so many settings, 1x1 to 2x8. Picked is as `puma_tuner` recommends: the fewest slots whose
      throughput comes within #{PumaTuner::Units.percent(Picks::EQUAL_RATIO)} of the best one predicted. Beside each pick: how much of the best measured throughput it loses, in per cent; for the simulation with a 95 % interval
      (the repeats' common scatter; the best setting is looked for anew in each of #{Regret::DRAWS_COUNT} draws). *Measured* is the pick by what was measured; a pick is *right* when it
      loses no more than that and has no more slots. In simulation these grids tell the formulas apart (`test/benchmark/validate_test.rb`).
    TEXT

    CORRECTED = <<~TEXT
      **Not what a user gets.** The same cells less those that were disturbed, each predicted for the machine as fast as it was meanwhile, as neighbours make it 20 %
      slower and faster from minute to minute: where an app's work is a fixed number of turns of the loop, all CPU is scaled by what the cell's own requests took of
      it; for the others by the loop beside it. So this shows what the model gets wrong apart from the machine's drift; of a closed loop that keeps the GVL or the cores busy
      it leaves little to be wrong in the throughput, and nothing in the CPU per request, which is left out.
    TEXT

    METHOD = <<~TEXT
      - **One recording** of each workload with each Ruby, Puma and time slice, by `puma_tuner measure`, and the machine's own figures by
        `puma_tuner calibrate`. All cells are predicted from these, and nothing is set per cell or per app but the limit of `limited`, as `--station` would.
        (How wake-ups, hand-overs and answers are simulated was settled after earlier runs of such a grid; other machines have seen none of it.)
      - **A cell's name** is workload/Ruby/Puma/time slice in ms/workers x threads/load. *closed-2*: two connections for each thread, which
        send again as soon as they are answered; *clients-24*: 24 connections, whatever the settings; *open-0.7*: Poisson arrivals at 70 % of the throughput
        predicted for a server that is never short of work. What is predicted of an open loop is the rate that chance then made of it; its throughput
        is what was sent to it, so throughput is judged in closed loops alone.
      - **The load** comes from our generator on the same cores, without the probe, each cell several times, cells of one server in turns.
        Then the probe is put into the running server, and a shorter load tells the wait for the GVL (but for the cells that settings are picked from).
      - **CPU per request** is all that the server's processes used from before the first request to after the last, over all requests that they worked for meanwhile.
        Where it is off, the recording saw another machine (a neighbour on the same core, another clock rate) or other work; where it is right and the
        rest is off, the rules are.
      - **Disturbed** is decided by causes alone: CPU that others used (over #{PumaTuner::Units.percent(PumaTuner::Prove::Disturbance::FOREIGN_CPU_RATIO)} of the machine) or the hypervisor took
        (#{PumaTuner::Units.percent(PumaTuner::Prove::Disturbance::STOLEN_RATIO)}), a quota that was used up, a generator that was late or busy, and the machine's speed: a thread of ours runs the workloads' loop for half a
        millisecond ten times a second. Waiting for cores (PSI) is not among them, as server and generator make each other wait. A recording that others disturbed, or at
        #{PumaTuner::Units.percent(Speed::TOLERANCE_RATIO)} below the best speed, is made again, up to #{Recorder::ATTEMPTS_COUNT} times; a load that others disturbed, or at
        another speed than its recording, up to #{Session::EXTRA_COUNT} times. How far repeats are apart decides nothing.
      - **Computing** is a number of turns of a Ruby loop, counted out once for the whole run; **waiting** is a poll of a pipe that nobody
        writes to. p99 needs #{Measured::P99_LEAST_COUNT} requests.
    TEXT
    private_constant :INTRO, :TARGETS, :PICKS, :CORRECTED, :METHOD

    private

    def facts
      machine = PumaTuner::Host::MachineFacts.from_document(@facts.fetch("machine"))
      # Of what is recorded the page may be computed anew, by another commit.
      [Provenance.line(machine, at: @at, ruby: @facts.fetch("ruby")),
        "Measured from #{@facts.fetch("at")} on, with #{@facts.fetch("commit")}; #{@facts.fetch("turns_per_ms")} turns of the loop to a millisecond.",
        "Command: `#{@options.command}`; recorded at #{@by_topology.keys.first}; #{@calibrated_at ? "calibrated on this machine at #{@calibrated_at.join(", ")}" : "**not calibrated**: typical figures stand for the machine's own"}."].join("\n")
    end

    def targets
      count = @unmeasured.size
      ["## Targets", Table.verdict(@verdicts), *("**#{PumaTuner::Units.counted(count, "subject or cell", "subjects or cells")} could not be measured** (listed below)." if count.positive?),
        TARGETS.strip, Table.targets(@verdicts), *Table.missing(@verdicts)&.then { |lines| ["What misses:", lines] }]
    end

    def errors = ["## Errors, uncorrected, of all cells", @table.summary, *@table.formulas]

    def picks = @table.picks&.then { |table| ["### The best workers x threads", PICKS.strip, table] }

    def corrected
      ["## Errors, corrected for the machine's speed", CORRECTED.strip, @corrected.any? ? Table.new(@corrected).summary(without: [:cpu]) : "No cell was undisturbed."]
    end

    def recordings = Recordings.new(@by_topology).table&.then { |table| ["### Does it matter where it was recorded?", table] }

    def workloads = Accuracy::Markdown.table(["name", "a request is"], Workloads::ALL.map { |workload| [workload.name, workload.title] }, left_count: 2)

    def cells = @table.cells&.then { |table| ["## Cells", "Measured (interval) -> predicted (interval), error; uncorrected. A star marks what was disturbed.", table] }

    def disturbed = @table.disturbed&.then { |lines| ["## Disturbed cells", "They count in all but the corrected table.", lines] }

    def unmeasured = (["## What could not be measured", @unmeasured.map { |name, reason| "- #{name}: #{reason}" }.join("\n")] if @unmeasured.any?)
  end
end
