# frozen_string_literal: true

module PumaTuner
  # What became of one advice in a proof of all that can be proven.
  #
  # variant: its name in the verdict; measured: nil where it was not; reason: a Statement, why not, or what of it was
  #   not in force; else nil
  AdviceCheck = Document.define(:rule, :variant, :measured, :reason,
    nested: {measured: Advise::Measured, reason: Statement}) do
    def initialize(rule:, variant: nil, measured: nil, reason: nil) = super

    # @return [Advise::Measured, nil] what was measured with all of it in force
    def whole = (measured unless reason)
  end

  # Measures advice: today's setting against one variant for each advice that has anything to set, in one proof, so that
  # all meet the same rounds, and the interval of each is as wide as their number asks for.
  class AdviceProof
    BASELINE = "today"

    # Few metrics besides the primary one, as each makes it harder for the others to be shown.
    METRICS = %w[throughput p50 p99 pss].freeze

    # Rules that promise memory, and nothing else.
    OF_MEMORY = %w[malloc memory_growth preload].freeze

    RATIOS = {"throughput" => :throughput_ratio, "p50" => :p50_ratio, "p99" => :p99_ratio}.freeze

    # Factors that make a topology, for which there are forecasts.
    OF_TOPOLOGY = %w[topology workers threads].freeze

    # What the text of a puma.rb says that means something else in another folder.
    OF_FOLDER = /__dir__|__FILE__|require_relative/

    # command: Host::Command; folder: for files, gone when the proof is over; puma_rb: source of the app's, nil without
    # times: Prove::TrialRunner::Times; other fields: see Prove::Proof::Plan
    Plan = Data.define(:command, :rackup, :traffic, :times, :folder, :puma_rb, :rounds_count, :primary, :time_limit_s,
      :seed, :repeat_with, :say)

    # @param verdict [Prove::Verdict]
    # @param variant [String] name of the one that follows the advice
    # @param metric [String] that the advice is about
    # @param today [Predict::Forecast] of today's setting, under the load of the proof
    # @param predicted [Stats::Estimate, nil] over today's
    # @return [Advise::Measured, nil] nil where nothing could be compared
    def self.measured(advice, verdict, variant, metric:, today:,
      predicted: RATIOS[metric]&.then { |name| advice.public_send(name) })
      comparison = verdict.comparison(variant, metric)
      fails = !verdict.failing(variant).nil?
      return unless comparison || fails
      factors = verdict.cells.find { |cell| cell.variant == variant }.factors
      predicted = nil if advice.larger_pool?(factors)
      Advise::Measured.new(rule: advice.rule, lines: advice.lines, topology: advice.topology, metric:,
        today: today.topology, ratio: comparison&.ratio, predicted:, outcome: fails ? :fails : comparison.outcome,
        measured_at: verdict.started_at, arrivals: today.scenario.arrivals)
    end

    # @param advice [Array<Advise::Advice>]
    # @param sweep [Predict::Sweep] with today's forecast
    # @param plan [Plan]
    def initialize(advice, sweep:, plan:)
      @advice = advice
      @sweep = sweep
      @plan = plan
      @reasons, @variants = {}, {}
      advice.each do |one|
        reason, factors = reason(one)
        reason ? @reasons[one] = reason : @variants[one] = variant(one, settled(factors))
      end
    end

    # @return [Array<Prove::Variant>] the baseline first; it is alone where nothing can be proven
    def variants
      [Prove::Variant.new(name: BASELINE, factors: settled({}), forecast: today), *@variants.values.uniq]
    end

    # @yieldparam what [String] is about to run
    # @yieldparam left_s [Float, nil] seconds that the rest should take
    # @return [Prove::Verdict, nil] nil where no variant could be had
    # @raise [UsageError, MeasurementFailed] where today's setting can't be measured, or variants can't be compared
    def call(&)
      prepare
      while @variants.any?
        begin
          @proof = setup.proof
          return @verdict = @proof.call(&)
        rescue Prove::VariantFailed => error
          raise if @proof.verdict || error.variant.name == BASELINE
          leave_out(error.variant, Statement.of(:fails_to_serve, text: error.detail))
        end
      end
    end

    # @return [Prove::Verdict, nil] of the rounds so far
    def verdict = @verdict || @proof&.verdict

    # @return [Array<AdviceCheck>] one for each advice
    def checks
      @advice.map do |advice|
        variant = @variants[advice]
        next AdviceCheck.new(rule: advice.rule, reason: @reasons.fetch(advice)) unless variant
        measured = measured(advice, variant)
        AdviceCheck.new(rule: advice.rule, variant: variant.name, measured:,
          reason: measured ? advice.starved(variant.factors) : Statement.of(:not_measured))
      end
    end

    private

    def today = @sweep.at(@sweep.today)

    # @return [Statement, Array(nil, Hash)] why it can't be measured by itself, or the factors to measure it by
    def reason(advice)
      return Statement.of(:stays) if advice.topology == @sweep.today
      # With the advised places in the pool where they can be set from outside, else as it is, which is told.
      return [nil, {**advice.factors, **Advise::PoolVariable.factors(advice, @plan.command)}] if advice.topology
      elsewhere = advice.lines.keys - [Advise::Rule::PUMA_RB, Advise::Rule::ENVIRONMENT, Advise::Rule::GEMFILE]
      return Statement.of(:pool_in_file, path: elsewhere.first) if elsewhere == [Advise::Rule::DATABASE_YML]
      return Statement.of(:in_code, places: elsewhere) if elsewhere.any?
      return [nil, advice.factors] if advice.factors.any?
      return as_file(advice.lines) if advice.lines.any?
      Statement.of((advice.rule == "topology") ? :no_setting : :no_lines)
    end

    # Lines of puma.rb that are none of its options, as a configuration of their own.
    def as_file(lines)
      environment = lines[Advise::Rule::ENVIRONMENT].to_s.lines(chomp: true)
        .to_h { |line| line.split("=", 2).then { |name, value| ["env.#{name}", value] } }
      wanted = lines[Advise::Rule::PUMA_RB] or return [nil, environment]
      source = @plan.puma_rb.to_s
      return Statement.of(:of_folder) if source.b.match?(OF_FOLDER) # comments may be in any encoding
      edited = Advise::PumaFile.new(source).with(wanted, "advised")
      return Statement.of(:computed_there, lines: edited.left) if edited.left.any?
      return Statement.of(:in_file_already) if edited.source == source
      [nil, {**environment, "config" => written(edited.source)}]
    end

    def written(source)
      path = File.join(@plan.folder, "puma_#{Dir.children(@plan.folder).size}.rb")
      File.write(path, source)
      path
    end

    # Two rules that advise the same share one.
    def variant(advice, factors)
      same = @variants.each_value.find { |variant| variant.factors == factors }
      return same if same
      count = @variants.each_key.count { |other| other.rule == advice.rule }
      name = count.zero? ? advice.rule : "#{advice.rule} #{count + 1}"
      Prove::Variant.new(name:, factors:, forecast: forecast(advice, factors))
    end

    # All have a topology, and the recorded one where they do not change it: the app may have another by now.
    def settled(factors) = {**factors.except(*OF_TOPOLOGY), "topology" => topology(factors).to_s}

    # @return [Predict::Forecast, nil] of the variant; of what is no topology, today's with what the advice promises
    def forecast(advice, factors)
      return if advice.larger_pool?(factors)
      return @sweep.at(topology(factors)) if of_topology?(factors)
      return unless advice.throughput_ratio && today.steady?
      fields = Predict::Check::FIELDS.to_h do |metric, field|
        estimate, ratio = today.public_send(field), advice.public_send(RATIOS.fetch(metric))
        [field, estimate.with(value: estimate.value * ratio.value)]
      end
      today.with(**fields)
    end

    def of_topology?(factors) = factors.keys == ["topology"]

    def topology(factors)
      return Topology.parse(factors["topology"]) if factors["topology"]
      workers_count = factors.fetch("workers", @sweep.today.workers_count).to_i
      threads_count = factors.fetch("threads", @sweep.today.threads_count).to_s[/\d+\z/].to_i
      Topology.from([workers_count, 1].max, threads_count)
    end

    # @return [Stats::Estimate, nil] predicted over today's
    def predicted(advice, variant, metric)
      return unless RATIOS.key?(metric)
      return advice.public_send(RATIOS.fetch(metric)) unless of_topology?(variant.factors)
      return unless variant.forecast&.steady? && today.steady?
      @sweep.ratio(variant.forecast, today, Predict::Check::FIELDS.fetch(metric))
    end

    # Whether it can be had at all (a gem, a tool, a library) is found out before minutes of rounds.
    def prepare
      preparation = preparation()
      @variants.values.uniq.each do |variant|
        preparation.call(variant)
      rescue UsageError => error
        leave_out(variant, Statement.of(:not_to_be_had, text: error.message))
      end
    end

    def leave_out(variant, reason)
      left_out, @variants = @variants.partition { |_, one| one.name == variant.name }.map(&:to_h)
      left_out.each_key { |advice| @reasons[advice] = reason }
      @plan.say.call("#{variant.name} is left out")
    end

    def preparation
      Prove::Preparation.new(variants:, command: @plan.command, rackup: @plan.rackup, folder: @plan.folder,
        say: @plan.say)
    end

    # The app answers the same, whatever its pages look like.
    def setup
      metrics = Prove::Metric::SERVED.select { |metric| [*METRICS, @plan.primary].include?(metric.name) }
      Prove::Setup.served(variants, preparation: preparation, traffic: @plan.traffic, times: @plan.times,
        looks: Prove::Looks.fixed(@plan.rounds_count), metrics:, bodies_may_differ: true, primary: @plan.primary,
        time_limit_s: @plan.time_limit_s, seed: @plan.seed, command: @plan.repeat_with)
    end

    # @return [Advise::Measured, nil]
    def measured(advice, variant)
      metric = OF_MEMORY.include?(advice.rule) ? "pss" : @plan.primary
      return unless verdict
      AdviceProof.measured(advice, verdict, variant.name, metric:, today:,
        predicted: predicted(advice, variant, metric))
    end
  end
end
