# frozen_string_literal: true

module PumaTuner
  module Profile
    module Hints
      # The shared part of the rules about libraries: it adds up all stacks below a family of methods, as a share of the
      # whole.
      module Share
        # A smaller share is not worth changing a library for.
        LEAST_RATIO = 0.03

        module_function

        # @param costs [Costs]
        # @yieldparam method [MethodCost]
        # @yieldreturn [Boolean] whether it is one of the family
        # @return [Array(Float, Array<String>)] share of the whole that is spent in or below it, counted once; and the
        #   names that stand topmost, dearest first
        def below(costs, &member)
          family = costs.methods.each_index.select { |index| member.call(costs.methods[index]) }
            .to_h { |index| [index, 0] }
          amount = add_up(costs.tree, family)
          dearest = family.select { |_, total| total.positive? }.sort_by { |_, total| -total }
          [costs.share_ratio(amount) || 0.0, dearest.map { |index, _| costs.methods[index].name }]
        end

        # A member's total already holds what stands below it.
        def add_up(tree, family)
          inside_depth = nil
          tree.sum do |depth, index, _, total|
            inside_depth = nil if inside_depth && depth <= inside_depth
            next 0 if inside_depth || !family.key?(index)
            inside_depth = depth
            family[index] += total
            total
          end
        end

        # @param what [#call] given the names that stand topmost, as the next two are
        # @param cure [#call]
        # @param proof [#call]
        # @return [Hint, nil] nil below LEAST_RATIO, and where not time but objects are told
        def hint(costs, rule:, what:, cure:, proof:, &member)
          return unless costs.unit == "ns"
          share_ratio, names = below(costs, &member)
          return if share_ratio < LEAST_RATIO
          of_cpu = costs.mode == "cpu"
          Hint.new(rule:, share_ratio:, cure: cure.call(names), proof: proof.call(names),
            title: "#{what.call(names)} takes #{(share_ratio * 100).round(1)}% of the #{of_cpu ? "CPU" : "time"}",
            evidence: "Mostly in #{names.first(4).join(", ")}#{" (waiting for responses included)" unless of_cpu}.")
        end
      end
    end
  end
end
