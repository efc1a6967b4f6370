# frozen_string_literal: true

require "time"

module PumaTuner
  module Prove
    # The whole proof: variants made ready and looked at, the noise of two equal ones, the rounds, the verdict.
    class Proof
      # The plan that was decided before the first round.
      #
      # variants: the first is the baseline; primary: name of the metric that decides; looks: Looks
      # metrics: that are told; percentiles that decide, or of which something is expected, are always among them
      # noise_rounds_count: A/A pairs beforehand; equivalent_ratio: see Verdict; expectations: Expectations
      # precision_ratio: the half width that intervals of precise_metrics are to have: the number of rounds then
      #   follows from how far the first FIRST_ROUNDS_COUNT scatter, and looks say the most; nil: as looks say
      # spare: those of the variants that are left out where they fail when they are looked at and, the last one first,
      #   where rounds or time are too few to show anything of all, as long as another is left beside the baseline; of a
      #   proof whose rounds are kept none, as rounds of other variants are none of it
      # allowed: what may differ though undeclared, see DeclarationCheck;
      #   bodies_may_differ: responses need not be of equal length
      # busy_machine: whether rounds count though others hit one variant clearly
      #   more; time_limit_s: seconds for all of it, or nil
      Plan = Data.define(:variants, :metrics, :primary, :looks, :noise_rounds_count, :equivalent_ratio,
        :expectations, :allowed,
        :bodies_may_differ, :busy_machine, :time_limit_s, :seed, :load, :command, :precision_ratio,
        :precise_metrics, :spare) do
        def initialize(metrics: Metric::SERVED, primary: "throughput", noise_rounds_count: 0, equivalent_ratio: 0.02,
          expectations: Expectations.parse([]), allowed: [], bodies_may_differ: false, busy_machine: false,
          time_limit_s: nil, command: nil, precision_ratio: nil, precise_metrics: nil, spare: [], **fields)
          precise_metrics ||= [primary]
          metrics = Metric.including(metrics, [*expectations.metrics, primary])
          super
        end
      end

      # Rounds by whose scatter it is found how many there must be for a precision: by fewer a scatter is hardly known.
      FIRST_ROUNDS_COUNT = 8

      # When the planned rounds would show nothing smaller than this, no interval tells anything.
      HOPELESS_EFFECT_RATIO = 1.0

      # @param plan [Plan]
      # @param trial_runner [#call or #together, #expected_s; #look, #outcomes, #times=, #trial_s]
      # @param kept [Journal]
      def initialize(plan, trial_runner:, kept: Rounds::Nothing)
        @plan = plan
        @trial_runner = trial_runner
        @kept = kept
      end

      # @return [Float] seconds it should take, as far as is known before the app was looked at
      def expected_s
        wanted_s = @plan.variants.size * TrialRunner::BOOT_S + noise_s(@plan.noise_rounds_count) +
          rounds(@plan.looks).expected_s
        [wanted_s, @plan.time_limit_s].compact.min
      end

      # @yieldparam what [String] is about to run
      # @yieldparam left_s [Float, nil] seconds that the rest should take; nil: nothing new is known
      # @return [Verdict] of the rounds that could be run; not complete when they ended early
      # @raise [UsageError, InvalidMeasurement] before the first round: when a variant does not answer, or not as the
      #   others do, or is not what was declared
      def call(&progress)
        @started_at = Time.now.utc.iso8601
        @machine = Probe::MachineFacts.read
        prepare
        clock = TimeLimit::Clock.new(@plan.time_limit_s) if @plan.time_limit_s
        all = @plan.variants
        failed = look_at_variants(clock, &progress)
        left_out = [*failed.values, *too_many(clock, all - failed.keys)]
        fitted = fit(clock)
        @rounds = rounds(fitted.looks, clock)
        @remarks = [*left_out, *fitted.remarks]
        @remarks.each { |remark| progress&.call(remark, nil) }
        progress&.call("#{Units.counted(fitted.looks.rounds_max, "round")} of #{@plan.variants.size} variants",
          @rounds.expected_s + noise_s(fitted.noise_rounds_count))
        @noise = measure_noise(fitted, &progress)
        @rounds.call(&progress)
        verdict
      end

      # @return [Verdict, nil] of the rounds so far; nil when none has begun
      def verdict
        return unless @rounds
        trials = @rounds.trials
        disturbed = disturbance.summary(trials, primary: @plan.primary,
          level_ratio: @plan.looks.level_ratio(@plan.variants.size - 1))
        verdict = judge(trials)
          .call(noise: @noise.to_a, disturbed:, load: load_of(trials), seed: @plan.seed, machine: @machine,
            started_at: @started_at, command: @plan.command, complete: @rounds.complete?,
            stopped_because: @rounds.stopped_because || Statement.of(:interrupted), remarks: @remarks, expectations: [])
        verdict.with(expectations: @plan.expectations.judge(verdict))
      end

      private

      def rounds(looks, clock = nil)
        Rounds.new(variants: @plan.variants, looks:, trial_runner: @trial_runner, random: Random.new(@plan.seed),
          kept: @kept, clock:, decided: ->(trials) { decided(trials) },
          hopeless: ->(trials) { hopeless(trials, looks) }, wanted: ->(attempts) { wanted(attempts) },
          check: ->(attempt) { unlike(attempt) },
          marked: @plan.busy_machine ? :itself.to_proc : ->(trials) { disturbance.mark(trials) })
      end

      def disturbance = Disturbance.new(@plan.variants, planned_count: @plan.looks.rounds_max)

      def noise_s(rounds_count) = rounds_count * 2 * @trial_runner.expected_s

      # One beside the baseline stays.
      def spare?(variant) = @plan.spare.include?(variant) && @plan.variants.size > 2

      def leave_out(variant)
        @plan = @plan.with(variants: @plan.variants - [variant], spare: @plan.spare - [variant])
      end

      # Of too many variants for its rounds a proof shows nothing, however large a difference is.
      #
      # @param all [Array<Variant>] those that can be served
      # @return [Statement, nil] which ones were left out
      def too_many(clock, all)
        planned_count = @plan.looks.rounds_max
        leave_out(@plan.spare.last) while spare?(@plan.spare.last) && !time_limit(clock).enough?(times, @plan.looks)
        left_out = all - @plan.variants
        return if left_out.empty?
        least_count = @plan.looks.least_rounds_count(all.size - 1)
        Statement.of(:left_out, variants: left_out.map(&:name), least_count:,
          rounds_count: (planned_count if planned_count < least_count))
      end

      # Tells whether too_many would leave out a variant that nobody has looked at, as rounds or time are too few for it
      # beside those that were looked at and those that can't be spared. Where there is nothing else beside the baseline
      # yet, it is looked at, and so is the next one where it fails.
      #
      # @param looked [Hash{Variant => Array}] those that answered
      # @return [Boolean]
      def left_out_anyway?(variant, looked, clock)
        return false unless @plan.spare.include?(variant)
        count = @plan.variants.count { |one| one == variant || looked.key?(one) || !@plan.spare.include?(one) }
        count > 2 && !time_limit(clock, count).enough?(times, @plan.looks)
      end

      # @return [TrialRunner::Times, nil] nil where nobody says how long trials are, as of blocks
      def times = (@trial_runner.times if @trial_runner.respond_to?(:times))

      # @return [TimeLimit::Fitted] what was planned, or what of it fits into the time that is left; rounds that were
      #   kept say how long others are
      def fit(clock)
        kept_count = rounds(@plan.looks).valid_count
        fitted = time_limit(clock).fit(times, @plan.looks, noise_rounds_count: @plan.noise_rounds_count, kept_count:,
          kept_times: @kept.times)
        @kept.keep_times(fitted.times) if fitted.times != (@kept.times || times)
        @trial_runner.times = fitted.times if times
        return fitted.with(remarks: @kept.ended.remarks) if @kept.ended
        fitted.with(remarks: [*(longer_trials(fitted.times) if times), *short_turns, *fitted.remarks])
      end

      def time_limit(clock, variants_count = @plan.variants.size)
        left_s = (clock && !@kept.ended) ? clock.left_s : Float::INFINITY
        TimeLimit.new(left_s, variants_count:,
          trial_s: times ? @trial_runner.method(:trial_s) : ->(_) { @trial_runner.expected_s },
          least_duration_s: times ? @trial_runner.least_duration_s(Metric.named(@plan.primary, @plan.metrics)) : 0)
      end

      # @return [Statement, nil] that trials are longer than was asked for, as the look at the variants made them
      def longer_trials(times)
        wanted_ns = @plan.load&.duration_ns
        return if wanted_ns.nil? || (times.duration_s * Units::NS_PER_S).round <= wanted_ns
        Statement.of(:longer_trials, seconds: times.duration_s, wanted_seconds: wanted_ns.fdiv(Units::NS_PER_S),
          responses_count: TrialRunner::DURATION_IN_LATENCIES)
      end

      # @return [Statement, nil] that throughput and latencies are no facts, as nobody goes by them
      def short_turns
        Statement.of(:short_turns) if @trial_runner.respond_to?(:short_turns?) && @trial_runner.short_turns?
      end

      # Returns the load as it was sent, when it had to be cut.
      def load_of(trials)
        return @plan.load unless @plan.load && @trial_runner.respond_to?(:times) && trials.any?
        @plan.load.with(duration_ns: (@trial_runner.times.duration_s * Units::NS_PER_S).round)
      end

      def judge(trials)
        Judge.new(variants: @plan.variants, trials:, metrics: @plan.metrics, primary: @plan.primary, looks: @plan.looks,
          equivalent_ratio: @plan.equivalent_ratio)
      end

      def decided(trials) = judge(trials).primary_decided?

      # @param attempts [Array<Array<Trial>>] the rounds so far that count
      # @return [Rounds::Wanted, nil] nil as long as there are too few, or no precision is wanted
      def wanted(attempts)
        ratio = @plan.precision_ratio or return
        first_count = [FIRST_ROUNDS_COUNT, @plan.looks.least_rounds_count(@plan.variants.size - 1)].max
        return if attempts.size < first_count
        count = judge(attempts.first(first_count).flatten).rounds_wanted(@plan.precise_metrics, ratio)
        Rounds::Wanted.new(rounds_count: count, half_width_ratio: ratio) if count
      end

      # It goes by how far the rounds scatter, whichever way they point.
      def hopeless(trials, looks)
        effects = judge(trials).minimum_detectable_effects(looks.rounds_max)
        return if effects.empty? || effects.min <= HOPELESS_EFFECT_RATIO
        Statement.of(:scattered, rounds_count: looks.rounds_max, effect_ratio: HOPELESS_EFFECT_RATIO)
      end

      # Checkouts, gems and set-up commands take as long as they take, mostly once: no limit to the proof is for them.
      def prepare
        return unless @trial_runner.respond_to?(:prepare)
        @plan.variants.each { |variant| Named.by(variant) { @trial_runner.prepare(variant) } }
      end

      # Minutes of rounds are for variants that start, answer alike, and differ in what was declared. A look takes
      # seconds, so what is left out anyway is not looked at.
      #
      # @return [Hash{Variant => Statement}] which ones were left out as they failed, and why
      def look_at_variants(clock)
        return {} unless @trial_runner.respond_to?(:look)
        looked, failed = {}, {}
        @plan.variants.each do |variant|
          next leave_out(variant) if left_out_anyway?(variant, looked, clock)
          yield("a look at #{variant.name}", nil) if block_given?
          looked[variant] = looked_at(variant)
        rescue VariantFailed => failure
          raise unless spare?(variant)
          leave_out(variant)
          failed[variant] = Statement.of(:failed_at_look, variant: variant.name, text: failure.detail)
        end
        ensure_declared(looked.transform_values(&:first))
        ensure_equal_bodies(looked.to_h { |variant, (_, outcome)| [variant.name, outcome] })
        failed
      end

      def looked_at(variant)
        Named.by(variant) { @trial_runner.look(variant).tap { |_, outcome| outcome.ensure_expected_responses } }
      end

      def ensure_equal_bodies(outcomes)
        reason = ValidityChecks.unequal_bodies(outcomes) unless @plan.bodies_may_differ
        if reason
          raise InvalidMeasurement, "#{reason}. Only variants with the same responses can be compared; " \
            "if the difference is intended, add --bodies-may-differ."
        end
      end

      # A round whose variants did not answer alike, or were not what was looked at, is void. Where nobody could look
      # beforehand, as at a block, the first round tells what ran.
      # @return [Void, nil]
      def unlike(attempt)
        ensure_declared(fingerprints(attempt)) unless @fingerprints
        detail = changed(attempt)
        # The noise rounds from before are left out: an app's responses may grow with time.
        unless @plan.bodies_may_differ || !@trial_runner.respond_to?(:look)
          detail ||= ValidityChecks.unequal_bodies(@trial_runner.outcomes.slice(*@plan.variants.map(&:name)))
            &.then { |text| Statement.of(:told, text:) }
        end
        Void.new(kind: :unlike, detail:) if detail
      end

      # @return [Statement, nil] what runs otherwise than when the variants were
      #   looked at: somebody may have changed the app meanwhile
      def changed(attempt)
        attempt.each do |trial|
          looked = @fingerprints.find { |variant, _| variant.name == trial.variant }.last
          key = DeclarationCheck.changed_since(looked, trial.fingerprint)
          if key
            return Statement.of(:changed, fact: Probe::Fingerprint.text(key), variant: trial.variant,
              before: looked[key], now: trial.fingerprint[key])
          end
        end
        nil
      end

      def fingerprints(attempt)
        @plan.variants.to_h { |variant| [variant, attempt.find { |trial| trial.variant == variant.name }.fingerprint] }
      end

      def ensure_declared(fingerprints)
        @fingerprints = fingerprints
        DeclarationCheck.new(@plan.variants.first, @fingerprints, allowed: @plan.allowed).ensure_declared
        @kept.ensure_same(@fingerprints.transform_keys(&:name))
      end

      def measure_noise(fitted, &progress)
        return [] if fitted.noise_rounds_count.zero?
        NoiseFloor.new(@plan.variants.first, trial_runner: @trial_runner, metrics: @plan.metrics,
          rounds_count: fitted.noise_rounds_count, planned_rounds_count: fitted.looks.rounds_max,
          level_ratio: @plan.looks.level_ratio(@plan.variants.size - 1), seed: @plan.seed).call(&progress)
      end
    end
  end
end
