# frozen_string_literal: true

module PumaTuner
  module Profile
    module Hints
      # An object made for each element that might be shared, or not be made at all: an empty Hash of arguments, an
      # object that carries a value from one method to the next.
      #
      # Evidence: objects of a class, or calls of its `initialize`, as many in one request as there are elements, or
      # whole multiples; where elements are unknown, 1,000 of one class by one line.
      class ObjectPerElement
        MANY = 1_000
        SHOWN_MAX = 5

        # Other rules look after what Ruby itself makes of literals and blocks.
        OWN_RULES = %w[Proc].freeze

        # @param costs [Costs]
        # @return [Hint, nil]
        def call(costs)
          elements = Counts.elements(costs)
          made = (initialized(costs, elements) + allocated(costs, elements)).uniq(&:first).sort_by { |_, count| -count }
          return if made.empty?
          Hint.new(rule: "object_per_element",
            title: "objects of #{made.size} class#{"es" unless made.size == 1} are made " \
              "#{elements ? "for each element" : "by the thousand"}",
            share_ratio: nil,
            evidence: "In one #{costs.work_noun}: " \
              "#{made.first(SHOWN_MAX).map { |name, count| "#{name} #{count.round} times" }.join(", ")}.",
            cure: "Share one frozen object where they are equal (an empty Hash, an empty list of arguments); " \
              "hand plain values on where an object only carries them.",
            proof: "puma_tuner prove --block FILE: allocations_per_iteration gives the exact number, " \
              "cpu_per_iteration whether it matters")
        end

        private

        def initialized(costs, elements)
          return [] unless elements
          Counts.per_work(costs)
            .select { |method, count| method.name.end_with?("#initialize") && of_elements?(count, elements) }
            .map { |method, count| [method.name.delete_suffix("#initialize"), count] }
        end

        def allocated(costs, elements)
          costs.allocations.filter_map do |site|
            count = costs.per_work(site.objects_count)
            next if count.nil? || OWN_RULES.include?(site.class_name)
            [site.class_name, count] if elements ? of_elements?(count, elements) : count >= MANY
          end
        end

        def of_elements?(count, elements) = count >= elements && (count % elements).zero?
      end
    end
  end
end
