# frozen_string_literal: true

module PumaTuner
  module Report
    class Text
      # Whether both groups of servers were asked for the same things.
      class FleetMix < Section
        NAME_LENGTH = 60

        def initialize(comparison, paint)
          super
          @figures = FleetFigures.new(comparison)
        end

        private

        def shown? = !@contents.mix.nil?

        def heading = "Endpoint mix"

        def lines = [*paragraph(@figures.mix_sentence), *(paragraph(@figures.mix_p99) if @figures.mix_p99), *(movers if @figures.movers.any?)]

        def movers
          table = table(["endpoint", "a", "b"])
          @figures.movers.each { |name, a, b| table << [shortened(name, NAME_LENGTH), a, b] }
          table.lines
        end
      end
    end
  end
end
