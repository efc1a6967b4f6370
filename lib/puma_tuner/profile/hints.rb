# frozen_string_literal: true

module PumaTuner
  module Profile
    # Known patterns, told from what a profile counts. One rule to a file under hints/: a class whose `call(costs)` gives a
    # Hint or nil. What it is about stands on top, its registration on the last line, its test beside it.
    #
    # A hint is no advice: what its cure brings is for a proof to say, and it says which.
    module Hints
      RULES = %i[called_per_element lock_per_call falsy_cache object_per_element procs_of_blocks json_share session_share database_client_share].freeze

      @rules = {}

      class << self
        # @param name [Symbol]
        # @param rule [Class]
        def register(name, rule) = @rules[name] = rule

        # @param costs [Costs]
        # @return [Array<Hint>] with most at stake first
        def of(costs)
          @rules.values.filter_map { |rule| rule.new.call(costs) }.sort_by { |hint| -(hint.share_ratio || 0) }
        end

        # @return [Hash{Symbol => Class}]
        attr_reader :rules
      end

      # What the rules about numbers of calls share.
      module Counts
        # Fewer of the same in one request are nobody's pattern.
        LEAST_PER_WORK = 100

        module_function

        # @param costs [Costs]
        # @return [Hash{MethodCost => Float}] calls in one request, of the methods whose calls were counted; none where nobody counted requests
        def per_work(costs)
          return {} unless costs.work_count&.positive?
          costs.methods.select(&:calls_count).to_h { |method| [method, costs.per_work(method.calls_count)] }
        end

        # Each field, row or node of the answer is one: what is done for each of them shows as methods that are called the
        # same number of times.
        #
        # @return [Integer, nil] how many elements there are: the number of calls, of 100 and more, that most methods share
        def elements(costs)
          counts = per_work(costs).values.select { |count| count >= LEAST_PER_WORK && count == count.round }.map(&:to_i).tally
          count, methods_count = counts.max_by { |number, methods| [methods, number] }
          count if methods_count && methods_count >= 3
        end
      end

      RULES.each { |name| require_relative "hints/#{name}" }
    end
  end
end
