# frozen_string_literal: true

module PumaTuner
  module Report
    class Text
      # Which methods it went to: dearest by themselves first.
      class Costs < Section
        ROWS_MAX = 25
        NAME_LENGTH = 44
        PLACE_LENGTH = 46

        # @param costs [Profile::Costs]
        def initialize(costs, paint)
          super
          @costs = costs
          @figures = CostFigures.new(costs)
        end

        private

        def shown? = true

        def heading = "Profile of #{@costs.target}"

        def lines
          [*paragraph(@figures.sentence), *(["", *table_lines, *note(how_to_read)] if rows.any?), *@figures.notes.flat_map { |text| note(text) }, *note(files)]
        end

        def rows = @costs.methods.first(ROWS_MAX).select { |method| method.self_amount.positive? || method.calls_count }

        def table_lines
          table = table(headings)
          rows.each { |method| table << row(method) }
          table.lines
        end

        def headings
          ["method", "self %", "total %", @figures.amount_heading, *("calls#{@figures.per}" if @costs.traced?), "<where"]
        end

        def row(method)
          [shortened(method.name, NAME_LENGTH), @figures.share(method.self_amount), Figures.share(@costs.share_ratio(method.total_amount)),
            @figures.amount(method.self_amount), *(@figures.calls(method.calls_count) if @costs.traced?),
            shortened(CostFigures.place(method.path, method.line), PLACE_LENGTH)]
        end

        def how_to_read
          hidden_count = @costs.methods.size - rows.size
          [
            "self: in the method's own code; total: with all that it called#{"; in brackets: what sampling leaves open (95%)" unless @costs.traced?}.",
            ("#{Figures.counted(hidden_count, "method")} more in the JSON." if hidden_count.positive?)
          ].compact.join(" ")
        end

        def files = "#{@costs.profiler}'s own #{(@costs.files.size == 1) ? "file" : "files"}: #{@costs.files.join(", ")}. #{@costs.viewer}"
      end
    end
  end
end
