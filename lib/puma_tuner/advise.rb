# frozen_string_literal: true

module PumaTuner
  # Sweep -> AdviceList: what to change, what it will bring, what it costs, how to undo it.
  module Advise
    autoload :Advice, "puma_tuner/advise/advice"
    autoload :AdviceList, "puma_tuner/advise/advice"
    autoload :Advisor, "puma_tuner/advise/advisor"
    autoload :Choice, "puma_tuner/advise/choice"
    autoload :Constraints, "puma_tuner/advise/constraints"
    autoload :Evidence, "puma_tuner/advise/evidence"
    autoload :Rule, "puma_tuner/advise/rule"

    # One to a file. Of a new one, its file and its test, its name here, and what it says (Report::AdviceWords).
    module Rules
      # In the order in which they are asked: the recommendation comes first, then the remarks.
      ALL = {Topology: "topology", LockBound: "lock_bound", LongBursts: "long_bursts", Gc: "gc"}.freeze

      ALL.each { |name, file| autoload name, "puma_tuner/advise/rules/#{file}" }

      # @return [Array<Class>]
      def self.all = ALL.keys.map { |name| const_get(name) }
    end
  end
end
