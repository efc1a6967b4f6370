# frozen_string_literal: true

module SimulationTwin
  # Chance for one purpose: xorshift64* (Vigna, "An experimental exploration of Marsaglia's xorshift generators, scrambled",
  # 2016), as ext/shared/random.h has it.
  class RandomStream
    MASK = (1 << 64) - 1

    # @param seed [Integer]
    # So far from the other purposes that no seed makes it one of theirs.
    BACKGROUND = 1 << 40
    GC = 1 << 41

    # @param purpose [Integer] 0..2: arrivals, picks, wake-ups, so that scenarios of one seed meet the same requests; or one of these
    def initialize(seed, purpose)
      @state = ((seed * 3 + purpose) * 0x9e3779b97f4a7c15 + 1) & MASK
    end

    # @return [Integer] 64 bits
    def bits
      state = @state
      state ^= state >> 12
      state ^= (state << 25) & MASK
      state ^= state >> 27
      @state = state
      (state * 2685821657736338717) & MASK
    end

    # @return [Integer] 0...limit
    def below(limit) = bits % limit

    # @return [Float] 0...1
    def fraction = (bits >> 11) / 9007199254740992.0
  end
end
