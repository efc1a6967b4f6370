# frozen_string_literal: true

module PumaTuner
  # Sweep -> AdviceList: what to change, what it will bring, what it costs, how to undo it.
  module Advise
    PumaTuner.autoload_folder(self, "#{__dir__}/advise", advice: %i[Advice AdviceList], sizer: %i[Sizer Sizing Spare],
      tail: %i[Tail TailPart TailSearch])

    # Predicts the settings under a load, and says what to change. With goals, the load is that of as many machines as
    # meet them: the forecasts are of one machine's share of it.
    #
    # @param sweeper [Predict::Sweeper]
    # @param scenarios [Array<Predict::Scenario>] of one load, today's setting among them
    # @param constraints [Constraints]
    # @param observation [Probe::Observation, nil] what it was recorded as
    # @yield [Array<Predict::Scenario>] to be predicted
    # @yieldreturn [Predict::Sweep]
    # @return [Array(Predict::Sweep, AdviceList)]
    def self.call(workload, sweeper, scenarios, constraints, observation: nil)
      sweep = yield scenarios
      facts = {observation:, sweeper:}
      if constraints.goals.empty? || !sweep.trusted?
        return [sweep, Advisor.new(constraints).call(workload, sweep, **facts)]
      end
      sizer = Sizer.new(constraints, forecaster: sweeper.method(:forecast))
      machines_count = sizer.machines_count(sweep)
      if machines_count.to_i > 1
        sweep = yield(scenarios.map { |one| one.with(arrivals: one.arrivals.times(1.0 / machines_count)) })
      end
      sizing = sizer.call(sweep, arrivals: scenarios.first.arrivals, machines_count:)
      list = Advisor.new(constraints.of_each(machines_count || 1)).call(workload, sweep, **facts)
      [sweep, list.with(constraints:, sizing:)]
    end

    # Asks every rule. The recommendation comes first, after what has to be done before it; then the remarks.
    class Advisor
      # @param constraints [Constraints]
      def initialize(constraints = Constraints.new)
        @constraints = constraints
      end

      # @param workload [Model::Workload]
      # @param sweep [Predict::Sweep]
      # @param facts [Hash] observation and sweeper, where they are there, see Situation
      # @return [AdviceList]
      def call(workload, sweep, **facts)
        situation = Situation.new(workload, sweep, constraints: @constraints, **facts)
        rules = Rules.all.map { |rule| rule.new(situation) }.sort_by { |rule| -rule.priority }
        AdviceList.new(advice: rules.flat_map(&:call).freeze, constraints: @constraints,
          tail: TailSearch.new(situation).call, today: sweep.today)
      end
    end

    # All of rules/. A new one takes a file in rules/, a table of its name in a file of report/advice_words/, and its
    # test.
    module Rules
      PATHS = Dir["#{__dir__}/advise/rules/*.rb"].to_h do |path|
        [File.basename(path, ".rb").split("_").map(&:capitalize).join.to_sym, path]
      end.freeze

      PATHS.each { |name, path| autoload name, path }

      # @return [Array<Class>] in no order, as a rule's place may depend on the situation
      def self.all = PATHS.keys.map { |name| const_get(name) }
    end
  end
end
