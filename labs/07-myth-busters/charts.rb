# frozen_string_literal: true

require_relative "accuracy"

module PumaTuner
  module Labs
    class MythBusters
      # The page "what your app's share of IO means", and the story's curves. Pure: of one Measured.
      class Charts
        MS = Units::NS_PER_MS.to_f

        # A chart tells so many lines apart.
        SERIES_COUNT = 5

        # @param measured [Measured]
        def initialize(measured)
          @measured = measured
          @shares = measured.cells.group_by(&:io_ratio)
          @advised = Accuracy.new(measured.cells).advised
        end

        # @return [Array<Lab::Chart>]
        def all = [kept, threads, shares, side_by_side, scalability, *latencies].compact.reject { |chart| chart.series.empty? }

        private

        def axis(name, unit = nil, ticks: nil) = Lab::Axis.new(name:, unit:, ticks:)

        def percent(ratio) = (ratio * 100).round(1)

        def series(title, points) = Lab::Series.new(title:, points: points.map { |point| [*point, nil, nil].first(4) })

        def kept
          Lab::Chart.new(id: "io-share", title: "What your app's share of IO means: how much of the best throughput each piece of advice has",
            across: axis("share of IO", "%"), up: axis("of the best throughput that was measured", "%"),
            series: Advised::NAMES.map { |name| series(name, @advised.filter_map { |one| [percent(one.io_ratio), percent(one.kept.fetch(name))] if one.kept.fetch(name) }) },
            reading: "find your app's share of IO along the bottom (puma_tuner measure tells it). 100% is the best number of threads that was measured; what a line lacks of it is what that advice costs. " \
              "One process; too many threads cost latency and memory, which the tables show.")
        end

        def threads
          names = Advised::NAMES - ["Rails' 3", "Rails' 5"]
          lines = names.map { |name| series(name, @advised.filter_map { |one| [percent(one.io_ratio), one.threads.fetch(name)] if one.threads.fetch(name) }) }
          Lab::Chart.new(id: "io-threads", title: "Threads for each share of IO", across: axis("share of IO", "%"), up: axis("threads"),
            series: [series("best, measured", @advised.map { |one| [percent(one.io_ratio), one.best] }), *lines],
            reading: "Rails' defaults lie at 3 and, until 7.1, at 5, whatever the share. Best: the fewest threads whose repeats reach into those of the highest throughput, or come within 3% of it; where the curve is flat, several are as good.")
        end

        # As many shares as can be told apart, spread evenly, each relative to its best.
        def shares
          chosen = spread(@shares.keys)
          ticks = thread_ticks
          places = ticks.to_h { |place, name| [name.to_i, place] }
          Lab::Chart.new(id: "threads-throughput", title: "Throughput by threads, relative to the best", across: axis("threads", nil, ticks:), up: axis("of the best", "%"),
            series: chosen.map { |io_ratio| series("#{percent(io_ratio).round}% IO", relative(@shares.fetch(io_ratio)).map { |threads, ratio| [places.fetch(threads), percent(ratio)] }) },
            reading: "where a line has become flat, more threads bring nothing. The places of Rails' defaults are named.")
        end

        def spread(list) = (list.size <= SERIES_COUNT) ? list : Array.new(SERIES_COUNT) { |index| list[(index * (list.size - 1.0) / (SERIES_COUNT - 1)).round] }

        def thread_ticks
          names = {Picks::RAILS_NEW => "3, Rails", Picks::RAILS_OLD => "5, Rails until 7.1"}
          @measured.cells.map(&:threads).uniq.sort.each_with_index.map { |threads, place| [place, names.fetch(threads, threads.to_s)] }
        end

        def relative(cells)
          most = cells.map { |cell| cell.throughput_per_s.value }.max
          cells.map { |cell| [cell.threads, cell.throughput_per_s.value / most] }
        end

        def side_by_side
          io_ratio, cells = @shares.min_by { |ratio, _| (ratio - ThreadsDuel::IO_RATIO).abs }
          measured = cells.map { |cell| [cell.threads, *[cell.throughput_per_s].flat_map { |one| [one.value, one.low, one.high] }] }
          predicted = cells.filter_map { |cell| cell.forecast&.throughput_per_s&.then { |one| [cell.threads, one.value, one.low, one.high] } }
          Lab::Chart.new(id: "predicted", title: "Measured and predicted, #{percent(io_ratio).round}% IO", across: axis("threads"), up: axis("throughput", "requests/s"),
            series: [series("measured", measured), series("predicted", predicted), series("Amdahl", formula(cells, :amdahl_per_s))].reject { |one| one.points.empty? },
            reading: "measured: the range of the repeats; predicted: the interval of the forecast, from a recording with 5 threads.")
        end

        def formula(cells, name) = cells.filter_map { |cell| cell.forecast&.closed_forms&.public_send(name)&.then { |per_s| [cell.threads, per_s] } }

        def scalability
          rounds = @measured.grid
          lines = %w[/io-only /realistic].product(rounds.names).map do |path, name|
            loads = rounds.loads.select { |asked| asked.paths.keys == [path] }.sort_by(&:connections_count)
            series("#{name}, #{path}", loads.filter_map { |asked| rounds.estimate("throughput", name, asked)&.then { |one| [asked.connections_count, one.value, one.low, one.high] } })
          end
          Lab::Chart.new(id: "scalability", title: "Puma and Go by clients", across: axis("clients"), up: axis("throughput", "requests/s"), series: lines,
            reading: "a line that goes on straight means that clients do not meet; one that bends, that they wait for something. Whiskers: the range of the rounds.")
        end

        def latencies = @measured.capacity.open.keys.map(&:first).uniq.map { |path| latency(path) }

        def latency(path)
          lines = @measured.capacity.open.select { |(one, _), _| one == path }.first(SERIES_COUNT).map do |(_, name), turns|
            series(name, turns.filter_map { |rate_per_s, turn| turn.outcome.p99_ns && [rate_per_s.round(2), turn.outcome.p99_ns / MS] }.sort)
          end
          Lab::Chart.new(id: "open-loops-#{path.delete("/")}", title: "p99 as the load grows, #{path}", across: axis("arrivals", "requests/s"), up: axis("p99", "ms"), series: lines,
            reading: "an open loop: as many come as before, however slow the server has become. The knee is where it can take no more.")
        end
      end
    end
  end
end
