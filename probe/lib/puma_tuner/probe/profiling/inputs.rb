# frozen_string_literal: true

module PumaTuner
  module Probe
    module Profiling
      # Which methods written in Ruby were called with what they had been called with before (the same receiver, equal
      # arguments), and gave the same again. It looks at each call and return, so it takes microseconds for each.
      #
      # Strings, symbols, numbers, true, false and nil are compared by value, all other arguments by identity. A method
      # that ever gave something else for the same inputs depends on more than these, and has no repeated calls; one
      # that gives nil or its receiver may be called for what it does. A block is an input that nobody can compare:
      # methods that got one at their first call, or take arguments without names, are not looked at.
      class Inputs
        # So many different inputs are remembered. Later ones count as different.
        MOST_INPUTS = 200_000

        # Longer results are not compared, and taken for different ones.
        MOST_ELEMENTS = 64

        BY_VALUE = [String, Symbol, Integer, Float, TrueClass, FalseClass, NilClass].freeze
        NAMED = %i[req opt key keyreq rest keyrest].freeze

        # calls_count: of calls that could be compared; repeated_count: with known inputs and the same result
        Sums = Struct.new(:calls_count, :repeated_count, :varies)

        def initialize
          @sums = {}
          @results = {}
          @comparable = {}
          @waiting = {}.compare_by_identity
          @trace = TracePoint.new(:call, :return) { |point| (point.event == :call) ? called(point) : returned(point) }
        end

        def start = @trace.enable

        def stop = @trace.disable

        # @return [Array<Array(String, Integer, Integer)>] a method's file and line, and its repeated calls
        def rows = @sums.map { |(path, line), sums| [path, line, sums.varies ? 0 : sums.repeated_count] }

        private

        # Of this fiber: what is under way.
        def stack = @waiting[Fiber.current] ||= []

        def called(point) = stack << key(point)

        def returned(point)
          key = stack.pop or return # it began before we did
          sums = @sums[key.first(2)] ||= Sums.new(0, 0, false)
          sums.calls_count += 1
          compare(key, sums, point.return_value, point.self)
        end

        def compare(key, sums, result, receiver)
          if @results.key?(key)
            return sums.varies = true unless same?(@results[key], result)
            sums.repeated_count += 1 unless result.nil? || result.equal?(receiver)
          elsif @results.size < MOST_INPUTS
            @results[key] = result
          end
        rescue
          sums.varies = true # an `==` of the app's failed
        end

        # @return [Array, nil] where the method is, and what it got; nil where that can't be compared
        def key(point)
          place = [point.path, point.lineno]
          binding = point.binding
          names = @comparable.fetch(place) { @comparable[place] = names(point, binding) } or return
          [*place, binding.receiver.__id__, *names.map { |name| comparable(binding.local_variable_get(name)) }]
        end

        # @return [Array<Symbol>, nil] of its arguments; nil where some have none, or it got a block
        def names(point, binding)
          names = point.parameters.map { |kind, name| name if NAMED.include?(kind) && name&.match?(/\A[a-z_]\w*\z/) }
          names unless names.include?(nil) || binding.eval("block_given?")
        end

        # A text may be changed while we have it.
        def comparable(value)
          return value.dup.freeze if String === value
          (BY_VALUE.any? { |type| type === value }) ? value : [value.__id__]
        end

        def same?(one, other)
          return true if one.equal?(other)
          return one == other if BY_VALUE.any? { |type| type === one && type === other }
          [Array, Hash].any? { |type| type === one && type === other && one.size <= MOST_ELEMENTS } && one == other
        end
      end
    end
  end
end
