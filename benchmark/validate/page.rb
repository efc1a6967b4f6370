# frozen_string_literal: true

require_relative "recorder"
require_relative "recordings"
require_relative "table"

module Validation
  # What is printed, and docs/validation.md. Generated; nothing in it is written by hand. Pure but for its date.
  class Page
    # @param facts [Hash] the journal's run
    # @param options [Options]
    # @param by_topology [Hash{PumaTuner::Topology => Array<Comparison>}] by the recording's topology; the first is judged
    # @param verdicts [Array<Verdict>]
    # @param absences [Hash{String => String}] subjects that can't be had here, with the reason
    # @param calibrated [Boolean] whether the machine's figures are its own
    # @param at [Time]
    def initialize(facts:, options:, by_topology:, verdicts:, absences:, calibrated:, at: Time.now)
      @facts = facts
      @options = options
      @by_topology = by_topology
      @verdicts = verdicts
      @absences = absences
      @calibrated = calibrated
      @at = at
      @table = Table.new(by_topology.values.first)
    end

    # @return [String] the tables and what they rest on
    def results = [facts, *targets, *summary, *cells, *invalid].join("\n\n")

    # @return [String] the whole page
    def to_s = "#{[INTRO.strip, facts, *targets, *summary, "## Workloads", workloads, "## How it is measured", METHOD.strip, *cells, *invalid].join("\n\n")}\n"

    INTRO = <<~TEXT
      # Predictions against a real Puma

      Written by `benchmark/validate.rb`; not to be edited. To repeat it: the command below (`OPTIONS=--help` tells how to have less
      or more of it; `OPTIONS=--write` writes this page). What is predicted and how: [prediction.md](prediction.md).
    TEXT

    TARGETS = <<~TEXT
      An error is predicted over measured. It lies *beyond the noise* by as much as it lies outside of what the cell's own repeats and the
      number of its requests leave open. A target is met when the errors as they are keep it, missed when even what lies beyond the noise
      does not, and otherwise not shown either way. Cells that were disturbed, or whose repeats' throughput varies by more than
      #{PumaTuner::Units.percent(Measured::SPREAD_RATIO)}, do not count; they are listed below.
    TEXT

    METHOD = <<~TEXT
      - **One recording** of each workload with each Ruby, Puma and time slice, by `puma_tuner measure`, and the machine's own figures by
        `puma_tuner calibrate`. All cells are predicted from these, and nothing is set per cell or per app. (How wake-ups,
        hand-overs and answers are simulated was settled after earlier runs of this grid on this machine; other machines have seen none of it.)
      - **A cell's name** is workload/Ruby/Puma/time slice in ms/workers x threads/load. *closed-2*: two connections for each thread, which
        send again as soon as they are answered; *open-0.7*: Poisson arrivals at 70 % of the throughput predicted for a server that is
        never short of work. What is predicted of an open loop is the rate that chance then made of it; its throughput is what was sent to
        it, so throughput is judged in closed loops alone.
      - **The load** comes from our generator on the same cores, without the probe, each cell several times, cells of one server in turns.
        Then the probe is put into the running server, and a shorter load tells the wait for the GVL.
      - **CPU per request** is all that the server's processes used, over the requests. Where it is off, the recording saw another machine
        (a neighbour on the same core, another clock rate) or other work; where it is right and the rest is off, the rules are.
      - **The machine's speed** is watched: a thread of ours runs the workloads' loop for half a millisecond ten times a second. A recording that
        others disturbed, or at #{PumaTuner::Units.percent(Speed::TOLERANCE_RATIO)} below the best speed, is made again, up to #{Recorder::ATTEMPTS_COUNT} times; a load that others disturbed, or at
        another speed than its recording, up to #{Session::EXTRA_COUNT} times. These are causes; no result decides what is kept.
      - **A cell is predicted for the machine as fast as it was meanwhile**, as its neighbours make it 20 % slower and faster from minute to minute.
        Where an app's work is a fixed number of turns of the loop, that is told by the CPU time which its requests took; for the others by the
        loop beside it. So what is held against the targets is the rules, not the drift of this machine; of a closed loop that keeps
        the GVL or the cores busy it leaves little to be wrong in the throughput. `OPTIONS="--recompute --uncorrected"` shows the same
        measurements without that, and the column of CPU per request then tells how far the machine had drifted.
      - **Computing** is a number of turns of a Ruby loop, counted out once for the whole run; **waiting** is a poll of a pipe that nobody
        writes to. p99 needs #{Measured::P99_LEAST_COUNT} requests.
    TEXT
    private_constant :INTRO, :TARGETS, :METHOD

    private

    def facts
      machine = @facts.fetch("machine")
      ["#{machine["cores_count"]} cores, #{machine["cpu_model"]}; #{machine["kernel"]}. #{@facts.fetch("ruby")}.",
        "#{@at.utc.strftime("%Y-%m-%d")}, measured from #{@facts.fetch("at")} on, load average before it #{machine["load_average"] || "unknown"}; " \
        "#{@facts.fetch("turns_per_ms")} turns of the loop to a millisecond.",
        "Command: `#{@options.command}`; recorded at #{@by_topology.keys.first}; #{@calibrated ? "calibrated on this machine" : "**not calibrated**: typical figures stand for the machine's own"}.",
        *@absences.map { |subject, reason| "Left out: #{subject}, #{reason}." }].join("\n")
    end

    def targets = ["## Targets", TARGETS.strip, Table.targets(@verdicts), *missing]

    def missing = Table.missing(@verdicts)&.then { |lines| ["What misses:", lines] }

    def summary
      recordings = Recordings.new(@by_topology).table
      ["## Errors", @table.summary, *@table.formulas, *@table.picks&.then { |table| ["### The best workers x threads", table] },
        *(["### Does it matter where it was recorded?", recordings] if recordings)]
    end

    def workloads = Accuracy::Markdown.table(["name", "a request is"], Workloads::ALL.map { |workload| [workload.name, workload.title] }, left_count: 2)

    def cells = @table.cells&.then { |table| ["## Cells", "Measured (interval) -> predicted (interval), error.", table] }

    def invalid = @table.invalid&.then { |lines| ["## Cells that do not count", lines] }
  end
end
