# frozen_string_literal: true

module PumaTuner
  module Prove
    # The reason why a round must not be counted.
    #
    # kind:
    #   :failed: by the variant's own doing, such as wrong responses, broken connections, a process that went away
    #   :replaced: workers were, as some settings do on purpose
    #   :unlike: the variants' responses, or what runs, are not what they were to be
    #   :generator: the load was not what was asked for
    #   :disturbed: others on the machine hit one variant clearly more than the other
    # detail: a Statement, as a clause; of what failed, the error's own text
    # output: the last lines that the app has printed; told while the rounds
    #   run, and not in the document, as they may hold anything
    Void = Document.define(:kind, :detail, :output, symbols: [:kind], added: {output: []},
      nested: {detail: Statement}) do
      # @param text [String] an error's
      # @param output [Array<String>, nil] the last lines that the app has printed
      # @return [Void] by the variant's own doing
      def self.failed(text, output: nil) = new(kind: :failed, detail: Statement.of(:told, text:), output:)

      def to_document = super.except(:output)
    end

    # One variant under load in one round, in a process of its own.
    #
    # variant: its name; position: 0 for the first in its round
    # values: {Metric#name => number}; what could not be told is not in it
    # requests_count: that throughput and latency are of (of a block: iterations)
    # memory: [[requests served so far, PSS bytes, RSS bytes], …] from boot to
    #   the end of the load, all processes together
    # conditions: {name => number} on the machine meanwhile, such as "run_queue_wait_ratio"; see Conditions
    # budget: the mean request's, from the short load after the counted one, with the probe; nil without it
    # fingerprint: of what ran, see Host::WhatRan
    # remarks: Statements of what a reader must know, though it voids nothing
    # void: nil, or why the round must not be counted
    Trial = Document.define(:variant, :round, :position, :values, :requests_count, :warmup, :memory,
      :conditions, :budget,
      :fingerprint, :remarks, :void,
      nested: {warmup: Load::Warmup, budget: Probe::Budget, fingerprint: Probe::Fingerprint, void: Void,
               remarks: [Statement]}) do
      def initialize(values: {}, warmup: nil, memory: [], conditions: {}, budget: nil, fingerprint: {}, remarks: [],
        void: nil, **fields)
        super(**Ractor.make_shareable({values:, warmup:, memory:, conditions:, budget:, fingerprint:, remarks:, void:,
          **fields}, copy: true))
      end

      # @return [Float, nil]
      def throughput_per_s = values["throughput"]
    end

    # One variant against the baseline, in one metric, over paired rounds.
    #
    # ratio: variant over baseline, Hodges-Lehmann with the signed-rank interval; t_ratio: the same by Student's t, a
    #   second opinion (nil of fewer than two pairs)
    # p_value: two-sided, exact signed-rank; adjusted_p_value: after Holm, over all that is not the primary metric (nil
    #   of the primary one, whose level is corrected beforehand)
    # mde_ratio: the minimum detectable effect, the smallest change that these pairs would detect with 80% power
    # predicted_ratio: the forecast's, nil where none was made
    # outcome: :better, :worse, :equivalent or :not_shown; a ratio's direction
    #   is the metric's (latency: lower is better)
    Comparison = Document.define(:variant, :metric, :ratio, :t_ratio, :p_value, :adjusted_p_value, :mde_ratio,
      :predicted_ratio, :outcome, symbols: %i[outcome],
      renamed: {mde_ratio: "smallest_effect_ratio"},
      nested: {ratio: Stats::Estimate, t_ratio: Stats::Estimate}) do
      # @return [Boolean, nil] whether both intervals say the same of 1; nil when there is only one
      def agreed?
        t_ratio && ratio.covers?(1) == t_ratio.covers?(1)
      end
    end

    # A variant, and what the rounds measured of it.
    #
    # factors: what was declared of it, {"yjit" => "on"}
    # topology: nil when it is no Puma, or not the same in all rounds
    # estimates: {Metric#name => Estimate} over rounds (median, minimum to maximum); predicted: {Metric#name => number}
    # budget: the mean request's over all rounds; nil without it
    # fingerprint: of what ran, the same in all rounds
    # unsteady_count: trials that never became steady; remarks: of its trials, each once
    Cell = Document.define(:variant, :factors, :topology, :estimates, :predicted, :budget, :fingerprint,
      :unsteady_count, :remarks,
      nested: {topology: Topology, estimates: {String => Stats::Estimate}, budget: Probe::Budget,
               fingerprint: Probe::Fingerprint, remarks: [Statement]}) do
      # @param metric [String]
      # @return [Float, nil] signed relative error of the forecast
      def error_ratio(metric)
        predicted[metric].fdiv(estimates[metric].value) - 1 if predicted[metric] && estimates[metric]
      end
    end

    # The distance between two equal variants, before the rounds.
    #
    # metric; ratio: again over first; sd_ratio: of one pair's log-ratio
    # mde_ratio: the minimum detectable effect of the planned rounds, by that spread
    Noise = Document.define(:metric, :ratio, :sd_ratio, :mde_ratio, nested: {ratio: Stats::Estimate},
      renamed: {mde_ratio: "smallest_effect_ratio"})

    # An expectation that was asked to hold, and whether it was shown.
    #
    # reason: a Statement, why it was not; nil when it was
    Expectation = Document.define(:text, :variant, :shown, :reason, nested: {reason: Statement})

    # The load that was sent: how often and how long; for a block: iterations.
    #
    # generator: what sent the load; arrivals: as people read it; duration_ns: of the load in each trial
    TrialLoad = Document.define(:generator, :connections_count, :arrivals, :duration_ns) do
      # @param traffic [Load::Traffic] what is sent to each server
      # @param duration_s [Numeric] seconds of load in each trial
      # @return [TrialLoad]
      def self.of_traffic(traffic, duration_s:)
        new(generator: traffic.generator_name, connections_count: traffic.connections_count,
          arrivals: traffic.arrivals.to_s, duration_ns: (duration_s * Units::NS_PER_S).round)
      end

      # @param duration_s [Numeric] seconds of each trial
      # @return [TrialLoad] of a block of Ruby, to which nothing is sent
      def self.of_block(duration_s:)
        new(generator: nil, connections_count: nil, arrivals: nil, duration_ns: (duration_s * Units::NS_PER_S).round)
      end
    end

    # A variant that failed in some attempts at a round, which were run again.
    #
    # attempts_count: in which it failed, of all_count; reason: of the last
    # clearly_more: whether it fails more often than the baseline, by more than chance or in more than a fifth of the
    #   attempts; it is then called neither better nor equivalent, whatever its good rounds show
    Failure = Document.define(:variant, :attempts_count, :all_count, :reason, :clearly_more,
      nested: {reason: Statement})

    # The share of the machine that others took while the rounds that count ran, of all its cores.
    #
    # taken_ratio: used by other processes or taken by the hypervisor, over all trials; again_count: rounds that were
    #   run again as it hit one variant clearly more than the other
    # explained_ratio: of the variance of the primary metric's log-ratios, the share that goes with the difference in it
    #   between the two variants; nil of fewer than six rounds
    # quiet_effect_ratio: the minimum detectable effect of these rounds without that
    #   share; nil where it is not known
    Disturbed = Document.define(:taken_ratio, :again_count, :explained_ratio, :quiet_effect_ratio,
      nested: {taken_ratio: Stats::Estimate})

    # The verdict on all that the rounds showed.
    #
    # baseline: name of the variant that the others are held against
    # primary: the metric that was declared before; metrics: all that were looked at
    # looks: after how many rounds the primary metric was allowed to decide; level_ratio: of its interval at each look
    # equivalent_ratio: an interval inside 1 ± this counts as equivalent
    # complete: whether as many rounds were run as were wanted; stopped_because: a Statement, why no more were
    # voided_count: trials thrown out and run again; noise: of A/A pairs beforehand, empty without them
    # failures: of variants that failed; disturbed: nil where nothing of it is known
    # remarks: Statements on the proof as a whole, such as what was cut to fit into a time that was given
    Verdict = Document.define(:baseline, :primary, :metrics, :cells, :comparisons, :noise, :trials, :rounds_count,
      :voided_count, :failures, :disturbed,
      :looks, :level_ratio, :equivalent_ratio, :complete, :stopped_because, :remarks, :expectations, :load, :seed,
      :machine, :started_at, :command,
      kind: :verdict,
      nested: {metrics: [Metric], cells: [Cell], comparisons: [Comparison], noise: [Noise], trials: [Trial],
               failures: [Failure], disturbed: Disturbed, stopped_because: Statement, remarks: [Statement],
               expectations: [Expectation], load: TrialLoad, machine: Probe::MachineFacts}) do
      def initialize(failures: [], disturbed: nil, complete: true, remarks: [], **fields) = super

      # The document also has what follows from the other fields, so that a program that reads it need not know how.
      def to_document
        {**super, **Document::Writing.plain({findings:, causes:, rounds_needed:})}
      end

      # @return [Array<Finding>] what the rounds showed, of each variant but the baseline
      def findings = Finding.of(self)

      # @return [Array<Cause>] where the differences come from, of the variants of which it is known
      def causes = Cause.of(self)

      # @return [RoundsNeeded] to show anything at all
      def rounds_needed = RoundsNeeded.of(self)

      # @return [Cell, nil]
      def baseline_cell = cells.find { |cell| cell.variant == baseline }

      # @return [Array<Cell>] all but the baseline
      def other_cells = cells.reject { |cell| cell.variant == baseline }

      # @return [String] what is served or done, and counted: "request", or "iteration" of a block
      def noun = (metrics.any? { |metric| metric.name == "iterations" }) ? "iteration" : "request"

      # @param variant [String] its name
      # @param metric [String] its name
      # @return [Comparison, nil]
      def comparison(variant, metric)
        comparisons.find { |comparison| comparison.variant == variant && comparison.metric == metric }
      end

      # @return [Boolean] whether any variant could be compared in what decides
      def compared? = comparisons.any? { |comparison| comparison.metric == primary }

      # Returns the ratio of any two variants, with an interval of its own, for a caller who names the two beforehand.
      # `comparisons` hold all against the baseline, and share the level among them.
      #
      # @param metric [String]
      # @param of [String] name of a variant
      # @param over [String] name of another
      # @param level_ratio [Float] of the interval, 0.95 for 95%
      # @return [Stats::Estimate, nil] of the first over the second; nil when no round could tell
      def ratio(metric, of:, over:, level_ratio: 0.95)
        pairs = PairedValues.new(trials, cells.size).pairs(over, of, metric)
        pairs && Stats::PairedRatio.of(*pairs, level_ratio:)
      end

      # @return [Array<Trial>] those that count
      def valid_trials
        trials.each_slice(cells.size).reject { |round| round.any?(&:void) }.flatten
      end

      # @param variant [String] its name
      # @return [Failure, nil] of a variant that fails clearly more than the baseline
      def failing(variant) = failures.find { |failure| failure.variant == variant && failure.clearly_more }

      # @return [Boolean] whether its figures stand without their pairs, too: all rounds were run, and in the middle one
      #   others took no more of the machine than a measurement can bear that has no pair
      def quiet?
        complete && (disturbed.nil? || disturbed.taken_ratio.value <= Disturbance::FOREIGN_CPU_RATIO)
      end

      # @return [Boolean] whether all that was asked for was shown; true when nothing was
      def as_expected? = expectations.all?(&:shown)
    end
  end
end
