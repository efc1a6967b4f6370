# frozen_string_literal: true

module PumaTuner
  module Report
    class Text
      # Which lines made which objects.
      class AllocationSites < Section
        ROWS_MAX = 20
        PLACE_LENGTH = 60

        # @param costs [Profile::Costs]
        def initialize(costs, paint)
          super
          @costs = costs
          @figures = CostFigures.new(costs)
        end

        private

        def shown? = @costs.allocations.any?

        def heading = "Objects, by class and line"

        def lines
          table = table(["class", "objects#{@figures.per}", "KiB#{@figures.per}", "kept in the end", "<where"])
          @costs.allocations.first(ROWS_MAX).each { |site| table << row(site) }
          hidden_count = @costs.allocations.size - ROWS_MAX
          table.lines + (hidden_count.positive? ? note("#{Figures.counted(hidden_count, "line")} more in the JSON.") : [])
        end

        def row(site)
          kib = @costs.per_work(site.bytes) || site.bytes
          [shortened(site.class_name, 30), @figures.calls(site.objects_count), kib ? Units.significant(kib / 1024.0) : "-",
            site.retained_objects_count ? Figures.count(site.retained_objects_count) : "-", shortened(CostFigures.place(site.path, site.line), PLACE_LENGTH)]
        end
      end
    end
  end
end
