# frozen_string_literal: true

module PumaTuner
  module Report
    class Html
      # Numbers to places on a line, in a chart's own units, with a few round numbers to name.
      class Scale
        # Steps that people read as round.
        STEPS = [1, 2, 2.5, 5, 10].freeze

        # Ratios worth naming on a logarithmic line.
        RATIOS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 1, 1.01, 1.02, 1.05, 1.1, 1.2,
          1.5, 2, 3, 5, 7, 10, 20, 50, 100].freeze

        # In a decade, from a narrow one to many.
        DIGITS = [(10..99).map { |number| Rational(number, 10) }, (1..9).to_a, [1, 1.5r, 2, 3, 5, 7], [1, 2, 5], [1, 3],
          [1]].freeze

        # Of the line's length. Nearer to each other than this, names would touch where a telephone shows them: a line
        # of some 330 pixels, and names of five letters.
        LEAST_GAP_RATIO = 0.1

        # @param numbers [Array<Numeric>] to be covered
        # @param places [Range] where the line begins and ends
        # @param logarithmic [Boolean]
        def initialize(numbers, places, logarithmic: false)
          @places = places
          @logarithmic = logarithmic
          low, high = numbers.minmax.map { |number| transformed(number) }
          margin = [(high - low) * 0.06, logarithmic ? 0.02 : high.abs * 0.01].max
          margin = 1.0 if margin.zero? # all are 0
          @low = low - margin
          @high = high + margin
        end

        # @return [Float]
        def place(number)
          (@places.begin + (transformed(number) - @low) / (@high - @low) * (@places.end - @places.begin)).round(2)
        end

        # @return [Array<Numeric>] round numbers, far enough from each other
        def ticks
          return apart(multiples) unless @logarithmic
          # From 1 outwards: it is what every ratio is held against, and must not be the one left out.
          covered = RATIOS.select { |ratio| transformed(ratio).between?(@low, @high) }
          below, above = covered.partition { |ratio| ratio < 1 }
          apart([*(1 if covered.include?(1)), *below.reverse]).reverse | apart(above)
        end

        # Of a logarithmic line over numbers that are no ratios: the same digits in each decade, as many as there is
        # room for.
        #
        # @return [Array<Numeric>] 1, 2, 5, 10, 20, …
        def decades
          choices = DIGITS.map { |digits| multiples_of_ten(digits) }
          choices.find { |numbers| apart(numbers) == numbers } || apart(choices.last)
        end

        private

        def apart(numbers)
          least = LEAST_GAP_RATIO * (@places.end - @places.begin).abs
          numbers.each_with_object([]) do |number, kept|
            kept << number if kept.empty? || (place(number) - place(kept.last)).abs >= least
          end
        end

        def transformed(number) = @logarithmic ? Math.log(number) : number.to_f

        def multiples_of_ten(digits)
          exponents = (@low / Math.log(10)).floor..(@high / Math.log(10)).ceil
          exponents.flat_map { |exponent| digits.map { |digit| digit * 10r**exponent } }
            .select { |number| transformed(number).between?(@low, @high) }
        end

        def multiples = ((@low / step).ceil..(@high / step).floor).map { |count| count * step }

        def step
          @step ||= begin
            rough = (@high - @low) / 6
            magnitude = 10.0**Math.log10(rough).floor
            STEPS.map { |step| step * magnitude }.find { |step| step >= rough }
          end
        end
      end
    end
  end
end
