# frozen_string_literal: true

module PumaTuner
  module Load
    # Names of a data file's columns, each of which stands once: the second `q` is `q_2`. It remembers how far a name's
    # numbers have come, as somebody may send the same name ten thousand times.
    class FreeNames
      # @param taken [Enumerable<String>] names that are there
      def initialize(taken = [])
        @numbers = taken.to_h { |name| [name, 1] }
      end

      # @param name [String] of a column
      # @return [String] itself, or with a number after it; nobody else gets it from now on
      def take(name)
        free = name
        free = "#{name}_#{@numbers[name] += 1}" while @numbers.key?(free)
        @numbers[free] = 1
        free
      end
    end
  end
end
