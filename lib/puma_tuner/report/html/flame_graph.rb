# frozen_string_literal: true

require "json"

module PumaTuner
  module Report
    class Html
      # Who called whom, from the top down: as wide as what it took, with all that it called below it (Gregg's flame
      # graph, upside down: "The Flame Graph", Communications of the ACM 59:6, 2016).
      #
      # It begins at the app's code: frames of gems and of Ruby that follow each other are folded into one box until
      # somebody asks for them. A box keeps its place from left to right whatever is folded; only its row changes.
      class FlameGraph
        ROW_HEIGHT = 20

        # A narrower box can neither be read nor hit.
        LEAST_PERCENT = 0.12

        # Narrower boxes have no room for a word. The script knows the graph's width, and decides anew.
        LEAST_NAMED_PERCENT = 2

        # A path this deep is recursion.
        DEPTH_MAX = 120

        # Gems that are Rails together.
        RAILS = %w[actioncable actionmailbox actionmailer actionpack actiontext actionview activejob activemodel
          activerecord activestorage activesupport railties].freeze

        # After its name: a number and perhaps a platform, or a commit.
        VERSION_OF_GEM = /-(?:\d.*|\h{12})\z/

        # In the name of a fold, and frames from which on there is something to fold.
        FAMILIES_MAX = 2
        LEAST_FOLDED = 2

        # left, width: percent; row: while everything is folded; depth: among all frames, from 0; place: where the code
        # is, nil where that is unknown; amounts: a sentence; owner: see Sections::Profile.owner, or :small
        # fold: number of the fold that the box stands for; inside: of the one that hides it; both nil without
        Box = Data.define(:left, :width, :row, :depth, :name, :place, :amounts, :owner, :fold, :inside) do
          # @return [String]
          def title = [head, amounts].join(" · ")

          # @return [String] its name and place
          def head = [name, place].compact.join(" · ")
        end

        # A place in the tree. method: nil of the whole, and of what is too small; app_below: whether it leads to the
        # app's code
        Node = Struct.new(:depth, :method, :owner, :left, :self_amount, :total_amount, :parent, :app_below, :run, :row)

        # Nodes that hang together and are none of the app's: either all of them lead to its code, or none does.
        Run = Struct.new(:nodes, :number, :row)

        LEGEND = {app: "the app's own", gem: "gems", ruby: "Ruby and C", small: "too small to draw"}.freeze

        # @param costs [Profile::Costs]
        def initialize(costs)
          @costs = costs
          @figures = Sections::Profile.new(costs)
        end

        # @return [Boolean]
        def any? = @costs.total_amount.positive? && boxes.size > 1

        # @return [Array<Box>] the whole first, each before what it called, and a fold before its frames
        def boxes = @boxes ||= nodes.select { |node| drawn?(node) }.flat_map { |node| boxes_of(node) }

        # All boxes for the script, which draws those that are unfolded. Most of them never are, and as elements they
        # would be most of the page.
        #
        # @return [String] JSON: words, and of each box its left, width and depth, the places of its owner in LEGEND and
        #   of its head and amounts among the words, the fold that it stands for and the one that it is inside of, -1
        #   without
        def packed
          words = Hash.new { |known, word| known[word] = known.size }
          rows = boxes.map do |box|
            [box.left, box.width, box.depth, LEGEND.keys.index(box.owner), words[box.head], words[box.amounts],
              box.fold || -1, box.inside || -1]
          end
          JSON.generate([words.keys, rows])
        end

        # @return [Boolean] whether there is anything to unfold
        def folds? = boxes.any?(&:fold)

        # @return [Integer] in pixels, while everything is folded
        def height = ((boxes.map(&:row).max || 0) + 1) * ROW_HEIGHT

        private

        def nodes = @nodes ||= grown.tap { |nodes| fold(nodes) }.each { |node| node.row = row(node) }

        # Each begins where the one before it at its depth ends, or where its caller begins.
        def grown
          next_left = [0.0]
          path = []
          @costs.tree.map do |depth, index, self_amount, total_amount|
            method = @costs.methods[index] if index && index >= 0
            left = next_left[depth]
            next_left[depth] = left + percent(total_amount)
            next_left[depth + 1] = left
            parent = path[depth - 1] if depth.positive?
            path[depth] = Node.new(depth, method, owner(index, method), left, self_amount, total_amount, parent, false)
          end
        end

        def owner(index, method)
          return :small if index&.negative?
          method ? Sections::Profile.owner(method.path) : :ruby
        end

        # Nothing is folded where nothing is the app's: the gems are what somebody looks at then.
        def fold(nodes)
          nodes.reverse_each { |node| node.parent.app_below ||= node.owner == :app || node.app_below if node.parent }
          return unless nodes.first&.app_below
          others = nodes.reject { |node| node.owner == :app }
          others.each { |node| node.run = run_of(node).tap { |run| run.nodes << node } }
          runs = others.map(&:run).uniq(&:object_id)
          short, long = runs.partition { |run| run.nodes.count(&:method) < (run.nodes.first.parent ? LEAST_FOLDED : 1) }
          short.each { |run| run.nodes.each { |node| node.run = nil } }
          long.each_with_index { |run, number| run.number = number }
        end

        def run_of(node)
          above = node.parent
          (above&.run && above.app_below == node.app_below) ? above.run : Run.new([])
        end

        # The topmost box stands for what leads from it to the app's code, too.
        def row(node)
          below = node.parent ? node.parent.row + 1 : 0
          node.run ? node.run.row ||= below : below
        end

        def drawn?(node) = node.depth <= DEPTH_MAX && percent(node.total_amount) >= LEAST_PERCENT

        def boxes_of(node)
          run = node.run
          fold = fold_box(node, run) if run && run.nodes.first.equal?(node)
          frame = frame_box(node, run) if node.parent || !run
          [fold, frame].compact
        end

        def frame_box(node, run)
          name = node.method&.name || (node.parent ? "(smaller)" : "everything")
          place = Sections::Profile.place(node.method.path, node.method.line) if node.method
          box(node, name:, place:, amounts: amounts(node, node.self_amount, "itself"), inside: run&.number)
        end

        def fold_box(node, run)
          frames = run.nodes.filter_map(&:method)
          counts = families(frames)
          gems = list(counts.keys)
          size = Figures.counted(frames.size, "frame")
          name = node.parent ? "#{gems}, #{size}" : "everything, through #{size} of #{gems}"
          name = "#{frames.first.name}, #{size}" if node.parent && gems == "Ruby"
          place = "#{counts.map { |family, count| "#{family} #{count}" }.join(", ")}, from #{frames.first.name} on"
          box(node, name:, place:, amounts: amounts(node, run.nodes.sum(&:self_amount), "themselves"),
            owner: (gems == "Ruby") ? :ruby : :gem, fold: run.number)
        end

        def box(node, **fields)
          Box.new(left: node.left.round(3), width: percent(node.total_amount).round(3), row: node.row,
            depth: node.depth, owner: node.owner, fold: nil, inside: nil, **fields)
        end

        def amounts(node, own_amount, pronoun)
          "#{share(node.total_amount)}% in all, #{share(own_amount)}% by #{pronoun}, " \
            "#{@figures.amount(node.total_amount)}#{@figures.per}"
        end

        def share(amount) = Figures.share(@costs.share_ratio(amount))

        def percent(amount) = 100.0 * amount / @costs.total_amount

        # @return [Hash{String => Integer}] frames by gem, most first, Ruby last
        def families(frames)
          gems = frames.map { |method| method.path.to_s[Sections::Profile::GEM, 1]&.sub(VERSION_OF_GEM, "") || "Ruby" }
          several = (gems & RAILS).size > 1
          counts = gems.map { |gem| (several && RAILS.include?(gem)) ? "rails" : gem }.tally
          counts.sort_by { |name, count| [(name == "Ruby") ? 1 : 0, -count, name] }.to_h
        end

        # Ruby is between all gems, and told only where nothing else is.
        def list(names)
          gems = (names.size > 1) ? names - ["Ruby"] : names
          return Figures.list(gems) if gems.size <= FAMILIES_MAX + 1
          Figures.list([*gems.first(FAMILIES_MAX), "#{gems.size - FAMILIES_MAX} more"])
        end
      end
    end
  end
end
