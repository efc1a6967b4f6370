# frozen_string_literal: true

module PumaTuner
  module Profile
    # Known patterns, told from what a profile counts. One rule to a file under hints/: a class whose `call(costs)`
    # gives a Hint or nil. What it is about stands on top, its test beside it, its name in RULES.
    #
    # A hint is no advice: what its cure brings is for a proof to say, and it says which.
    module Hints
      PumaTuner.autoload_folder(self, "#{__dir__}/hints")

      class << self
        # @param costs [Costs]
        # @return [Array<Hint>] with most at stake first
        def of(costs)
          RULES.filter_map { |rule| rule.new.call(costs) }.sort_by { |hint| -(hint.share_ratio || 0) }
        end
      end

      # The shared part of the rules about numbers of calls.
      module Counts
        # Fewer of the same in one request are nobody's pattern.
        LEAST_PER_WORK = 100

        module_function

        # @param costs [Costs]
        # @return [Hash{MethodCost => Float}] calls in one request, of the
        #   methods whose calls were counted; none where nobody counted requests
        def per_work(costs)
          return {} unless costs.work_count&.positive?
          costs.methods.select(&:calls_count).to_h { |method| [method, costs.per_work(method.calls_count)] }
        end

        # Each field, row or node of the response is one: what is done for each of
        # them shows as methods that are called the same number of times.
        #
        # @return [Integer, nil] how many elements there are: the number of
        #   calls, of 100 and more, that most methods share
        def elements(costs)
          counts = per_work(costs).values.select { |count| count >= LEAST_PER_WORK && count == count.round }
            .map(&:to_i).tally
          count, methods_count = counts.max_by { |number, methods| [methods, number] }
          count if methods_count && methods_count >= 3
        end
      end

      RULES = [CalledPerElement, LockPerCall, FalsyCache, ObjectPerElement, ProcsOfBlocks, RepeatedWork, JsonShare,
        SessionShare, DatabaseClientShare].freeze
    end
  end
end
