# frozen_string_literal: true

module PumaTuner
  module Profile
    module Hints
      # Many methods called exactly as often as there are elements in the response (fields, rows, nodes): what they do
      # for each might be done once for all. This is how the optimisation of graphql-ruby 1.5 was found: 1,748 calls
      # were one per field of the response (R. Mosolgo, "Optimizing GraphQL-Ruby", 2017).
      #
      # Evidence: three methods or more with the same number of calls per request, 100 at least.
      class CalledPerElement
        SHOWN_MAX = 6

        # @param costs [Costs]
        # @return [Hint, nil]
        def call(costs)
          elements = Counts.elements(costs) or return
          once, several = several_times(costs, elements).partition { |_, times| times == 1 }
          Hint.new(rule: "called_per_element",
            title: "#{once.size} methods are called exactly #{elements} times in one #{costs.work_noun}",
            share_ratio: costs.share_ratio((once + several).sum { |method, _| method.self_amount }),
            evidence: evidence(elements, once.map(&:first), several, costs),
            cure: "Look for what does not depend on the element, and do it once: look-ups that always find the same, " \
              "checks of what is fixed when the app is loaded, " \
              "objects that only carry values from one method to the next.",
            proof: "a benchmark of the same #{costs.work_noun}: puma_tuner prove --block FILE, " \
              "its primary metric cpu_per_iteration")
        end

        private

        # @return [Array<Array(MethodCost, Integer)>] called once, twice, … for each element, dearest first
        def several_times(costs, elements)
          Counts.per_work(costs)
            .select { |_, count| count >= elements && (count % elements).zero? }
            .map { |method, count| [method, (count / elements).to_i] }
            .sort_by { |method, _| -method.self_amount }
        end

        def evidence(elements, once, several, costs)
          names = once.first(SHOWN_MAX).map(&:name).join(", ")
          more = several.first(3).map { |method, times| "#{method.name} #{times} times" }
          "So many elements there seem to be. Called once for each, the dearest first: #{names}." \
            "#{" For each element: #{more.join(", ")}." if more.any?}"
        end
      end
    end
  end
end
