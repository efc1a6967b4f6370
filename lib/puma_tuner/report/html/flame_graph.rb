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
        def boxes = @boxes ||= [].tap { |list| add(@costs.tree, 0.0, 0, list) }

        # @return [Integer]
        def height = (boxes.map(&:top).max || 0) + ROW_HEIGHT

        private

        # @return [Float] its width
        def add(tree, left, depth, list)
          index, self_amount, total_amount, branches = tree
          width = 100.0 * total_amount / @costs.total_amount
          return width if width < LEAST_PERCENT || depth > DEPTH_MAX
          list << box(index, left, width, depth, self_amount, total_amount)
          branches.reduce(left) { |from, branch| from + add(branch, from, depth + 1, list) }
          width
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
