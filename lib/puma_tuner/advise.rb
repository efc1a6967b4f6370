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

    module Rules
      autoload :Gc, "puma_tuner/advise/rules/gc"
      autoload :LockBound, "puma_tuner/advise/rules/lock_bound"
      autoload :LongBursts, "puma_tuner/advise/rules/long_bursts"
      autoload :Topology, "puma_tuner/advise/rules/topology"
    end
  end
end
