# frozen_string_literal: true

module PumaTuner
  module Profile
    module Hints
      # The shared part of the rules about libraries: it adds up all stacks below a family of methods, as a share of the
      # whole. What another library does below them can be taken off.
      module Share
        # A smaller share is not worth changing a library for.
        LEAST_RATIO = 0.03

        module_function

        # @param costs [Costs]
        # @param other [#call, nil] whether a method is another library's, which what stands below it belongs to, up to
        #   the next of the family; a method that both claim is the family's
        # @yieldparam method [MethodCost]
        # @yieldreturn [Boolean] whether it is one of the family
        # @return [Array(Float, Array<String>)] share of the whole that is spent in or below it, counted once; and the
        #   names that stand topmost, dearest first
        def below(costs, other: nil, &member)
          family = costs.methods.each_index.select { |index| member.call(costs.methods[index]) }
            .to_h { |index| [index, 0] }
          others = costs.methods.each_index.select { |index| other&.call(costs.methods[index]) }
            .to_h { |index| [index, true] }
          amount = add_up(costs.tree, family, others)
          dearest = family.select { |_, total| total.positive? }.sort_by { |_, total| -total }
          [costs.share_ratio(amount) || 0.0, dearest.map { |index, _| costs.methods[index].name }]
        end

        # Each place of the tree is the family's when the nearest of both that it is, or stands below, is a member.
        def add_up(tree, family, others)
          topmost = [] # at each depth of the stack at hand, the member that it stands below, nil of others'
          tree.sum do |depth, index, self_amount, _|
            above = topmost[depth - 1] if depth.positive?
            topmost[depth] = family.key?(index) ? above || index : (above unless others.key?(index))
            next 0 unless topmost[depth]
            family[topmost[depth]] += self_amount
            self_amount
          end
        end

        # @param what [#call] given the names that stand topmost, as the next two are
        # @param cure [#call]
        # @param proof [#call]
        # @param other [#call, nil] see below
        # @return [Hint, nil] nil below LEAST_RATIO, and where not time but objects are told
        def hint(costs, rule:, what:, cure:, proof:, other: nil, &member)
          return unless costs.unit == "ns"
          share_ratio, names = below(costs, other:, &member)
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
