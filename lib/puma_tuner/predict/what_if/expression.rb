# frozen_string_literal: true

module PumaTuner
  module Predict
    class WhatIf
      # An expression, taken apart: `io(/articles)-20ms` is target "io",
      # selector "/articles", operator "-", operand "20ms".
      #
      # selector: nil when it is about everything
      # Of `without thread puma reactor` the operator is "thread", the operand its name; `without lock` and `without
      # releases` are alike.
      Expression = Data.define(:text, :target, :selector, :operator, :operand)

      class Expression
        # An endpoint's name may hold brackets of its own. `without` has a shape of its own.
        SHAPE = /\A(?!without\b)(?<target>[a-z]+)\s*(?:\(\s*(?<selector>.+?)\s*\))?
          \s*(?<operator>[*=+-])\s*(?<operand>\S+)\z/x

        WITHOUT = /\A(?<target>without)\s+(?<operator>thread|lock|releases)\s+(?<operand>\S.*)\z/

        NS = {"ns" => 1, "us" => Units::NS_PER_US, "µs" => Units::NS_PER_US, "μs" => Units::NS_PER_US,
              "ms" => Units::NS_PER_MS, "s" => Units::NS_PER_S}.freeze
        DURATION = /\A(?<number>\d{1,18}(\.\d+)?)(?<unit>#{Regexp.union(NS.keys)})\z/

        # @return [Expression]
        def self.parse(text)
          match = WITHOUT.match(text) || SHAPE.match(text) or
            raise UsageError, "--what-if #{text}: write such as cpu(/articles)*0.7, io-20ms or cores=4; " \
            "docs/reference/what_if.md lists them all"
          expression = new(text:, selector: nil, **match.named_captures(symbolize_names: true))
          return expression if CHANGES.key?(expression.target)
          if Io::KINDS.key?(expression.target)
            expression.refuse("write io(#{expression.target}), as it is a kind of io")
          end
          expression.refuse("there is no #{expression.target} to change; there is #{CHANGES.keys.join(", ")}")
        end

        # @raise [UsageError]
        def refuse(reason) = raise(UsageError, "--what-if #{text}: #{reason}")

        # A factor beyond is a typing error.
        MOST_FACTOR = 1e6

        # @return [Float] of "0.7" or "70%"
        def factor(least: 0.0)
          number = Float(operand.delete_suffix("%"))
          number /= 100 if operand.end_with?("%")
          raise ArgumentError unless number.between?(least, MOST_FACTOR)
          number
        rescue ArgumentError
          refuse("write a number #{least.positive? ? "above 0" : "from 0"} after #{operator}, such as 0.7, and at " \
            "most a million")
        end

        # As a factor's.
        MOST_SHIFT_NS = 3_600 * Units::NS_PER_S

        # @return [Integer] nanoseconds; below 0 to take away
        def shift_ns
          match = DURATION.match(operand) or
            refuse("write a time after #{operator} with its unit, such as 20ms, 350us or 1.5s")
          ns = match[:number].to_f * NS.fetch(match[:unit])
          refuse("write a time of at most an hour after #{operator}") if ns > MOST_SHIFT_NS
          (operator == "-") ? -ns.round : ns.round
        end

        # @param range [Range<Integer>]
        # @return [Integer]
        def count(range)
          number = Integer(operand, 10)
          raise ArgumentError unless range.cover?(number)
          number
        rescue ArgumentError
          refuse("write a whole number from #{range.min} to #{range.max}")
        end
      end
    end
  end
end
