# frozen_string_literal: true

module PumaTuner
  module Profile
    module Hints
      # Work that is done again for what it was done for before: a method that other methods work for, with the same
      # receiver and arguments and the same result, hundreds of times in one request. graphql-ruby 1.4 and 1.5 kept such
      # results for a query: whether a type is visible, which field has a name (R. Mosolgo, "Optimizing GraphQL-Ruby",
      # 2017, "Avoid Duplicate Calculations").
      #
      # Evidence: 100 repeated calls or more in one request, half of its calls at least, and 2% of the time below them.
      # Only ruby-prof in its mode `inputs` looks at what methods get.
      class RepeatedWork
        LEAST_RATIO = 0.02
        REPEATED_RATIO = 0.5
        SHOWN_MAX = 4

        # To call only these is no work: it was kept already.
        ASKS = Regexp.union(FalsyCache::LOOK_UPS, /#(?:key\?|include\?|nil\?|!|==|equal\?)\z/)

        # @param costs [Costs]
        # @return [Hint, nil]
        def call(costs)
          found = costs.methods.select { |method| method.repeated_count&.positive? }
            .to_h { |method| [method, share(method, costs)] }
            .select { |method, share| share >= LEAST_RATIO && repeated?(method, costs) && works?(method, costs) }
            .sort_by { |_, share| -share }
          return if found.empty?
          worst, share = found.first
          Hint.new(rule: "repeated_work", share_ratio: share,
            title: "#{worst.name} does its work again for equal inputs, #{per_work(worst, costs).floor} times in one " \
              "#{costs.work_noun}",
            evidence: "#{found.first(SHOWN_MAX).map { |method, _| told(method) }.join("; ")}.",
            cure: "Keep the result for as long as its inputs can't change: in a Hash whose default block works it " \
              "out, by request or query, or in the object that is asked.",
            proof: "a benchmark of the same #{costs.work_noun}: puma_tuner prove --block FILE, " \
              "its primary metric cpu_per_iteration")
        end

        private

        # Below its repeated calls, as if all took equally long.
        def share(method, costs)
          (costs.share_ratio(method.total_amount) || 0) * method.repeated_count / method.calls_count.to_i.clamp(1..)
        end

        # What is the same from one request to the next is no repetition within one: each request may have had each of
        # the different inputs once.
        def per_work(method, costs)
          costs.per_work(method.calls_count).to_f - (method.calls_count - method.repeated_count)
        end

        def repeated?(method, costs)
          per_work(method, costs) >= Counts::LEAST_PER_WORK &&
            method.repeated_count >= method.calls_count * REPEATED_RATIO
        end

        # One that only hands out what it has calls nobody, or hardly ever.
        def works?(method, costs)
          costs.methods.any? do |other|
            next if other.name == method.name || ASKS.match?(other.name)
            other.callers.fetch(method.name, 0) >= method.calls_count
          end
        end

        def told(method)
          "#{method.repeated_count} of #{method.calls_count} calls of #{method.name} got what an earlier one had " \
            "got, and gave the same"
        end
      end
    end
  end
end
