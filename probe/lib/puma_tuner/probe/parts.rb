# frozen_string_literal: true

module PumaTuner
  module Probe
    # The parts of time, as ext/puma_tuner_probe/parts.h lists and explains them, which is the one place that does.
    # Every other list of parts is made of these.
    module Parts
      # One part.
      #
      # row: Symbol, what the table calls its row: :step, :sum, :both, :inside or :outside
      # of: Symbol, nil, the part that it is inside of
      # is: Array<Symbol> among :spread, :of_wall, :of_thread, :demanded, :simulated, :wait
      Part = Data.define(:name, :row, :of, :is) do
        # @return [Boolean] whether a trace has such steps
        def step? = %i[step both inside].include?(row)

        # @return [Boolean] whether a ledger has a sum of it
        def sum? = %i[sum both inside].include?(row)

        # @return [Boolean]
        def is?(what) = is.include?(what)
      end

      # The extension tells it; without one, the file that it is compiled from does.
      text = GvlClock.parts || File.read(File.join(Extension::SOURCES, "parts.h"))

      # @return [Array<Part>]
      ALL = text.scan(/^\s*(STEP|SUM|BOTH|INSIDE|OUTSIDE)\((\w+), (\w+), ([\w |]+)\)/).map { |row, name, of, is|
        words = is.downcase.split(" | ").map(&:to_sym)
        of = (of == "NONE") ? nil : of.downcase.to_sym
        Part.new(name: name.downcase.to_sym, row: row.downcase.to_sym, of:, is: (words - [:"0"]).freeze)
      }.freeze

      # @return [Array<String>] kinds of steps in a trace, by their number
      STEPS = ALL.select(&:step?).map { |part| part.name.name }.freeze

      # @return [Hash{String => Integer}] kinds of steps that take no time, and their numbers: where the thread tried to
      #   get a lock, and where it gave it back. In the place of nanoseconds is the lock's id; 0: of one that has found
      #   no place in the ledger.
      MARKERS = text.scan(/^\s*MARKER\((\w+), (\d+)\)/)
        .to_h { |name, number| [name.downcase.freeze, number.to_i] }.freeze

      # @return [Hash{String => Integer}] the numbers of all of them
      CODES = {**STEPS.each_with_index.to_h, **MARKERS}.freeze

      # @return [Array<Symbol>] the places of an entry's sums, nanoseconds
      SUMS = ALL.select(&:sum?).map(&:name).freeze

      # @return [Array<Symbol>] of them, those that have a histogram
      DISTRIBUTIONS = ALL.select { |part| part.is?(:spread) }.map(&:name).freeze

      # @return [Array<Symbol>] the places of a request's numbers in GvlClock.request_take: nanoseconds but for the last
      #   two
      TAKEN = [*SUMS, :slices_count, :unaccounted].freeze

      # @return [Array<Symbol>] those of a thread's numbers in GvlClock.totals: nanoseconds but for the last
      TOTALS = [*STEPS.map(&:to_sym), :gc, :slices_count].freeze

      # @return [Array<Symbol>] the places of an entry's counts. stamped: that came with a proxy's X-Request-Start;
      #   cycles: times a thread took the GVL, 0 of what is no thread
      COUNTS = text.scan(/^\s*COUNT\((\w+)\)/).map { |(name)| name.downcase.to_sym }.freeze

      # @return [Array<Symbol>] those that make up the wall time of requests, recorded or simulated; no two of them hold
      #   the same moment
      WALL = ALL.select { |part| part.is?(:of_wall) }.map(&:name).freeze

      # @return [Array<Symbol>] of them, those of recorded requests
      REQUEST = ALL.select { |part| part.is?(:of_wall) && part.sum? }.map(&:name).freeze

      # @return [Array<Symbol>] the same of a pool thread's time
      THREAD = ALL.select { |part| part.is?(:of_thread) }.map(&:name).freeze

      # @return [Array<Symbol>] those that a request takes when nobody is in its way
      DEMANDED = ALL.select { |part| part.is?(:demanded) }.map(&:name).freeze

      # @return [Array<Symbol>] those that are known of simulated requests, the whole included
      SIMULATED = ALL.select { |part| part.is?(:simulated) }.map(&:name).freeze

      # @return [Array<String>] steps without the GVL, which a simulation replays
      WAITS = ALL.select { |part| part.is?(:wait) }.map { |part| part.name.name }.freeze

      # @param name [Symbol]
      # @return [Array<String>] the steps that the part is made of: itself, and what is inside
      def self.steps_of(name)
        ALL.select { |part| part.step? && [part.name, part.of].include?(name) }.map { |part| part.name.name }
      end
    end
  end
end
