# frozen_string_literal: true

module PumaTuner
  module CLI
    # The advice that is proven or written: what `--only` names, or all that has lines to set and a predicted effect.
    module Chosen
      class << self
        # @return [Array<String>] "topology", "affinity", …
        def rules = Advise::Rules::PATHS.values.map { |path| File.basename(path, ".rb") }.sort

        # @param names [Array<String>]
        # @raise [UsageError] for one that is no rule
        def ensure_rules(names)
          unknown = (names - rules).first or return
          likely = CommandLine.nearest(unknown, rules)
          raise UsageError, "--only #{unknown}: there is no such rule#{"; did you mean #{likely}?" if likely} " \
            "The rules are #{rules.join(", ")}"
        end

        # @param list [Advise::AdviceList]
        # @param only [Array<String>, nil] rules
        # @return [Array<Advise::Advice>]
        # @raise [UsageError] where a rule that is named has nothing to say of this app
        def of(list, only)
          return list.advice.select { |advice| !advice.remark? && whole?(advice) } unless only
          silent = (only - list.advice.map(&:rule)).first
          raise UsageError, "--only #{silent}: #{silence(list)}" if silent
          list.advice.select { |advice| only.include?(advice.rule) }
        end

        private

        # Whether all that it takes stands in files that this program writes, or in the environment.
        def whole?(advice)
          advice.lines.any? && (advice.lines.keys - [Advise::Rule::PUMA_RB, Advise::Rule::DATABASE_YML,
            Advise::Rule::ENVIRONMENT]).empty?
        end

        def silence(list)
          return "no rule has anything to say of this recording" if list.advice.empty?
          "that rule has nothing to say of this recording; there is advice of " \
            "#{list.advice.map(&:rule).uniq.join(", ")}"
        end
      end
    end
  end
end
