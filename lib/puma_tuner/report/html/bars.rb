# frozen_string_literal: true

module PumaTuner
  module Report
    class Html
      # Budgets as stacked horizontal bars. Places are percentages, so that a bar takes the width there is.
      class Bars
        # name: escaped by the template; facts: cells beside the bar
        Row = Data.define(:name, :facts, :segments, :label)

        # part: of Parts; x, width: in percent; text: printed inside where there is room
        Segment = Data.define(:part, :x, :width, :title, :text)

        # Narrower segments have no room for their number, or for a time, which is longer; on a telephone either.
        LEAST_TEXT_RATIO = 0.055
        LEAST_TIME_RATIO = 0.14

        # Longest over shortest.
        ONE_SCALE_MAX = 12

        # More bars than these are added up.
        WORKS_MAX = 16
        THREADS_MAX = 32

        # @param works [Array<Probe::EndpointObservation>]
        # @param headings [Array(String, String)] of their names, and of how many they were
        # @param parts [Array<Parts::Part>] that there can be
        # @return [Bars] one bar for each endpoint or kind of job
        def self.of_works(works, headings, parts)
          rows = Sections::Works.groups(works, WORKS_MAX).map do |group|
            facts = [Figures.count(group.requests_count), Units.duration(group.p50_ns), Units.duration(group.p99_ns)]
            [group.name, facts, group.budget, Parts.io(group.budget, group.requests_count)]
          end
          new([*headings, "p50", "p99"], rows, parts)
        end

        # @param observation [Probe::Observation]
        # @return [Bars] one bar for each thread, or for each worker when they are many
        def self.of_threads(observation)
          threads = observation.threads
          several = threads.map(&:worker_index).uniq.size > 1
          many = threads.size > THREADS_MAX
          groups = many ? threads.group_by(&:worker_index).values : threads.each_slice(1)
          new([many ? "worker" : "thread", "requests", "busy"], groups.map { |group| thread_row(group, several, many) },
            Parts.possible(queue: false))
        end

        # @param contents [Contents] with a verdict
        # @return [Bars] the mean request of each variant that has a budget, drawn to one scale
        def self.of_variants(contents)
          cells = contents.cells.select { |cell| cell.budget&.wall_ns&.positive? }
          rows = cells.map { |cell| [Figures.variant(cell), [Units.duration(cell.budget.wall_ns)], cell.budget] }
          new(["variant", "mean #{contents.noun}"], rows, Parts.possible,
            whole_ns: cells.map { |cell| cell.budget.wall_ns }.max)
        end

        # @param grid [Grid]
        # @param marks [Marks]
        # @param forecasts [Array<Predict::Forecast>] of the grid, with a steady state
        # @return [Bars] the mean simulated request of each; to one scale, unless the shortest could not be seen on it
        def self.of_forecasts(grid, marks, forecasts)
          rows = forecasts.map do |forecast|
            budget = forecast.budget
            name = [grid.name(forecast), *marks.in_grid(grid, forecast)].join(", ")
            [name, [Units.duration(budget.wall_ns), forecast.bottleneck], budget]
          end
          shortest, longest = rows.map { |row| row.last.wall_ns }.minmax
          new(["topology", "mean request", "limited by"], rows, Parts::SIMULATED, meanings: false,
            whole_ns: (longest if shortest * ONE_SCALE_MAX >= longest))
        end

        def self.thread_row(threads, several, many)
          budget = threads.map(&:budget).reduce(:+)
          worker = "worker #{threads.first.worker_index}" if several
          name = [worker, threads.first.name].compact.join(", ")
          name = "#{worker || "single process"}, #{threads.size} threads" if many
          available_ns = budget.idle_ns && budget.wall_ns + budget.idle_ns
          busy_ratio = budget.wall_ns.fdiv(available_ns) if available_ns&.positive?
          [name, [Figures.count(threads.sum(&:requests_count)), Units.percent(busy_ratio)], budget]
        end
        private_class_method :thread_row

        attr_reader :headings, :rows

        # @return [String] what a bar's length means
        def measure = @whole_ns ? "its time, to one scale" : "share of the time"

        # @param headings [Array<String>] of the name and the facts
        # @param rows [Array(String, Array<String>, Probe::Budget, String)] the last says what io was for; nil where
        #   nobody knows
        # @param parts [Array<Parts::Part>] that there can be
        # @param meanings [Boolean] whether each segment tells its part's meaning, which the legend has, too
        # @param whole_ns [Numeric, nil] the wall time that fills the width; nil: each bar's own
        def initialize(headings, rows, parts, whole_ns: nil, meanings: true)
          @meanings = meanings
          @headings = headings
          @whole_ns = whole_ns
          @possible_parts = parts
          @budgets = rows.map { |row| row[2] }
          @rows = rows.map do |name, facts, budget, io|
            Row.new(name:, facts:, segments: segments(budget, io), label: label(name, budget, io))
          end
        end

        # @return [Array<Parts::Part>] that are drawn, for the legend
        def parts = @possible_parts & @rows.flat_map { |row| row.segments.map(&:part) }

        # @return [Array<Parts::Part>] that could not be told apart somewhere
        def unknown_parts = @possible_parts.select { |part| @budgets.any? { |budget| Parts.ratio(budget, part).nil? } }

        # @return [Array<Parts::Part>] too small to be seen
        def unseen_parts = @possible_parts - parts - unknown_parts

        private

        def segments(budget, io)
          ratios = @possible_parts.to_h { |part| [part, Parts.ratio(budget, part).to_f] }
            .select { |_, ratio| ratio >= ThreadLine::LEAST_PRINTED_RATIO }
          # Parts that claim too much are drawn in proportion.
          whole = [ratios.values.sum, 1.0].max
          length = @whole_ns ? budget.wall_ns.fdiv(@whole_ns) : 1.0
          x = 0.0
          ratios.map do |part, ratio|
            segment(part, budget, ratio, x, length / whole, io).tap { x += ratio * length / whole }
          end
        end

        # @param scale [Float] by which shares are drawn
        def segment(part, budget, ratio, x, scale, io)
          time = "#{Units.duration(budget.wall_ns * ratio)}, " if @whole_ns
          Segment.new(part:, x: percent(x), width: percent(ratio * scale), text: text(budget, ratio, ratio * scale),
            title: "#{part.word} #{time}#{share(part, ratio, io)}#{": #{part.meaning}" if @meanings}")
        end

        def share(part, ratio, io) = "#{Units.percent(ratio)}#{" (#{io})" if io && part.name == :io}"

        def text(budget, ratio, width)
          return Units.duration(budget.wall_ns * ratio) if @whole_ns && width >= LEAST_TIME_RATIO
          (ratio * 100).round.to_s if !@whole_ns && ratio >= LEAST_TEXT_RATIO
        end

        def percent(ratio) = (ratio * 100).round(2)

        def label(name, budget, io)
          largest = Parts.largest(budget, 9, @possible_parts)
          shares = largest.map { |part, ratio| "#{part.word} #{share(part, ratio, io)}" }
          "#{name}: #{shares.empty? ? "no time seen" : shares.join(", ")}"
        end
      end
    end
  end
end
