# frozen_string_literal: true

require "json"

module Demo
  # Work for the CPU: fixed amounts, never until a clock says stop. A burst that ended by the clock would take no longer when
  # it is interrupted, and what threads do to each other could not be seen.
  module Work
    # About a millisecond on a core of 2021 without YJIT; with YJIT about half of it.
    STEPS_PER_UNIT = 27_000

    ROWS = Array.new(20_000) { |id|
      {"id" => id, "title" => "Article #{id}", "tags" => %w[ruby puma threads], "score" => id / 7.0, "published" => id.odd?}
    }.freeze

    module_function

    # Keeps the GVL, allocates nothing.
    # @param units [Integer]
    # @return [Integer] nobody's, but it keeps the work from being left out
    def burn(units)
      state = 1
      (units * STEPS_PER_UNIT).times { state = (state * 1_103_515_245 + 12_345) & 0x7fffffff }
      state
    end

    # Leaves a few megabytes in many small objects behind.
    # @return [Integer] the size of the text in between, in bytes
    def allocate
      text = JSON.generate(ROWS)
      JSON.parse(text).size
      text.bytesize
    end
  end
end
