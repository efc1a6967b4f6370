# frozen_string_literal: true

module PumaTuner
  module Report
    class Html
      # Who called whom, from the top down: as wide as what it took, with all that it called below it (Gregg's flame graph,
      # upside down: "The Flame Graph", Communications of the ACM 59:6, 2016).
      class FlameGraph
        ROW_HEIGHT = 18

        # A narrower box can neither be read nor hit.
        LEAST_PERCENT = 0.12

        # A path this deep is recursion.
        DEPTH_MAX = 90

        # left, width: percent; owner: see CostFigures.owner, or :small
        Box = Data.define(:left, :width, :top, :name, :title, :owner)

        LEGEND = {app: "the app's own", gem: "gems", ruby: "Ruby and C", small: "too small to draw"}.freeze

        # @param costs [Profile::Costs]
        def initialize(costs)
          @costs = costs
          @figures = CostFigures.new(costs)
        end

        # @return [Boolean]
        def any? = @costs.total_amount.positive? && boxes.size > 1

        # @return [Array<Box>] the whole first
        def boxes = @boxes ||= placed

        # @return [Integer]
        def height = (boxes.map(&:top).max || 0) + ROW_HEIGHT

        private

        # Each begins where the one before it at its depth ends, or where its caller begins.
        def placed
          next_left = [0.0]
          @costs.tree.filter_map do |depth, index, self_amount, total_amount|
            left = next_left[depth]
            width = 100.0 * total_amount / @costs.total_amount
            next_left[depth] = left + width
            next_left[depth + 1] = left
            box(index, left, width, depth, self_amount, total_amount) if width >= LEAST_PERCENT && depth <= DEPTH_MAX
          end
        end

        def box(index, left, width, depth, self_amount, total_amount)
          method = @costs.methods[index] if index && index >= 0
          name = method&.name || (index ? "(smaller)" : "everything")
          Box.new(left: left.round(3), width: width.round(3), top: depth * ROW_HEIGHT, name:, owner: owner(index, method),
            title: "#{name}#{" #{CostFigures.place(method.path, method.line)}" if method}: #{Figures.share(@costs.share_ratio(total_amount))}% in all, " \
              "#{Figures.share(@costs.share_ratio(self_amount))}% by itself, #{@figures.amount(total_amount)}#{@figures.per}")
        end

        def owner(index, method)
          return :small if index&.negative?
          method ? CostFigures.owner(method.path) : :ruby
        end
      end
    end
  end
end
