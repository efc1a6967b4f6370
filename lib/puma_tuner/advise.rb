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
    autoload :Situation, "puma_tuner/advise/situation"
    autoload :Rule, "puma_tuner/advise/rule"

    # All of rules/. A new one takes three files of one name and changes none: the rule in rules/, what it says in
    # report/advice_words/, and its test.
    module Rules
      PATHS = Dir["#{__dir__}/advise/rules/*.rb"].to_h do |path|
        [File.basename(path, ".rb").split("_").map(&:capitalize).join.to_sym, path]
      end.freeze

      PATHS.each { |name, path| autoload name, path }

      # @return [Array<Class>] the first is asked first: the recommendation, then the remarks
      def self.all = PATHS.keys.map { |name| const_get(name) }.sort_by { |rule| -rule::PRIORITY }
    end
  end
end
