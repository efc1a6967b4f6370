# frozen_string_literal: true

module PumaTuner
  module Report
    class Text
      # All services of a fleet, that with most to save first; then what the whole report rests on.
      class FleetServices < Section
        NAME_LENGTH = 24

        def initialize(comparison, paint)
          super
          @figures = FleetFigures.new(comparison)
        end

        private

        def shown? = true

        def heading = "Services"

        def lines
          [*rows, *@figures.service_notes.flat_map { |text| note(text) }, *advice, "", *foundations]
        end

        def rows
          table = table(FleetFigures::SERVICE_HEADINGS)
          @figures.services.each { |row| table << [shortened(row.name, NAME_LENGTH), *row.to_h.values.drop(1)] }
          table.lines
        end

        def advice
          @figures.advice.flat_map { |name, sentences| ["", @paint.call("  #{name}", :bold), *sentences.flat_map { |text| paragraph(text, label: "  - ", indent: 4) }] }
        end

        def foundations
          facts = {**@figures.foundations, **(@contents.command ? {"repeat" => @contents.command} : {})}
          facts.flat_map { |name, text| paragraph("#{name}: #{text}") }
        end
      end
    end
  end
end
