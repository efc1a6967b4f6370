# frozen_string_literal: true

module MythBusters
  # The work of all servers: Takeuchi's function, which does nothing but call itself and compare, and is the same few lines in any
  # language. Fixed amounts, never "until the clock says so": what is interrupted must stay as much work as it was.
  module Tarai
    module_function

    # @return [Integer]
    def tarai(x, y, z) = (x <= y) ? y : tarai(tarai(x - 1, y, z), tarai(y - 1, z, x), tarai(z - 1, x, y))

    # The unit of work (149 calls), so many times; keeps the GVL, allocates nothing.
    #
    # @param units [Integer]
    # @return [Integer] the function's value
    def burn(units)
      result = turn = 0
      while turn < units
        result = tarai(5, 2, 0)
        turn += 1
      end
      result
    end

    # @return [Integer] of some 350,000 calls, to compare languages by
    def compare = tarai(10, 5, 0)
  end
end
