# frozen_string_literal: true

module PumaTuner
  module Report
    class Html
      # What went on within the trials that count: memory over the requests served, and the warm-up, window by window.
      module Curves
        THOUSAND = 1_000

        module_function

        # @param contents [Contents] with a verdict
        # @return [Array<LineChart>] those that have something to show
        def of(contents) = [memory(contents), warmup(contents)].select(&:any?)

        # Pages in common are counted once (PSS) where the kernel says so, and otherwise as often as they are mapped
        # (RSS).
        def memory(contents)
          shared = contents.verdict.trials.any? { |trial| trial.memory.any? { |_, pss_bytes, _| pss_bytes } }
          index = shared ? 1 : 2
          series = series(contents) { |trial| memory_points(trial, index) }
          served = (contents.noun == "request") ? "requests served" : "#{contents.noun}s done"
          LineChart.new(id: "memory", title: "Memory over #{served}", legend: Html.legend(contents.cells), series:,
            up: LineChart::Axis.new(name: "MiB (#{shared ? "PSS" : "RSS"})", words: ->(mib) { format("%.5g", mib) }),
            across: LineChart::Axis.new(name: served, words: method(:thousands), whole: true),
            reading: "all processes of a trial together, from boot to the end of the load. Lines that still climb at " \
              "their end have not shown how much they need. They are compared where the slower one of a round ended, " \
              "as a variant that does more work also fills more. The axis does not begin at zero.")
        end

        def warmup(contents)
          series = series(contents) { |trial| warmup_points(trial) }
          LineChart.new(id: "warm-up", title: "Warm-up, window by window", legend: Html.legend(contents.cells), series:,
            up: LineChart::Axis.new(name: "CPU per #{contents.noun}", words: ->(ns) { Units.duration(ns) }),
            across: LineChart::Axis.new(name: "window", words: ->(number) { number.round.to_s }, whole: true),
            reading: "CPU per #{contents.noun} before anything is counted. It falls while code is compiled and " \
              "caches fill; a line that is not flat at its end was measured too early, and is named below. The axis " \
              "does not begin at zero.")
        end

        def series(contents)
          contents.verdict.valid_trials.filter_map do |trial|
            index = contents.cells.index { |cell| cell.variant == trial.variant }
            points = yield(trial)
            next unless index && points.any?
            LineChart::Series.new(symbol: Html.symbol(index), title: title(trial, points), points:)
          end
        end

        def memory_points(trial, index) = trial.memory.map { |row| [row.first, row[index]&.fdiv(Units::MIB)] }

        def warmup_points(trial)
          trial.warmup ? trial.warmup.cpu_per_request_ns.each_with_index.map { |ns, index| [index + 1, ns] } : []
        end

        def title(trial, points)
          unsteady = ", not steady" if trial.warmup&.steady == false
          "#{trial.variant}, round #{trial.round + 1}, #{points.size} points#{unsteady}"
        end

        # A tick may lie between two thousands, and is not to be told as one of them.
        def thousands(number)
          return Figures.count(number.round) if number < 10 * THOUSAND
          whole, tenths = (number.fdiv(THOUSAND) * 10).round.divmod(10)
          "#{Figures.count(whole)}#{".#{tenths}" if tenths.positive?}k"
        end
      end
    end
  end
end
