# frozen_string_literal: true

require "etc"
require_relative "accuracy"
require_relative "cost"
require_relative "go_server"
require_relative "talk"

module PumaTuner
  module Labs
    class MythBusters
      # What was measured, as tables. Pure: of one Measured.
      class Tables
        # @param measured [Measured]
        def initialize(measured)
          @measured = measured
        end

        # @return [Array<Lab::Table>]
        def all = [amounts, grid, inversion, talk, capacity, open_loops, checks, sweep, advised, accuracy, variants]

        private

        def rate(estimate) = Report::Figures.with_range(estimate) { |number| Units.rate(number) }

        def time(estimate) = Units.duration(estimate&.value)

        def percent(ratio) = ratio ? format("%.0f%%", ratio * 100) : "-"

        def amounts
          pace, amounts = @measured.pace, @measured.amounts
          Lab::Table.new(title: "What a realistic request does", headings: ["", "Ruby", "Go"], rows: [
            ["a unit of work, CPU", Units.duration(pace.fetch(:ruby_ns)), Units.duration(pace.fetch(:go_ns))],
            ["units at /realistic and /cpu-only", Report::Figures.count(amounts.units), Report::Figures.count(amounts.units)],
            ["units at /level", Report::Figures.count(amounts.units), Report::Figures.count(amounts.level_units)],
            ["its query sleeps for", *[Units.duration(amounts.sleep_s * Units::NS_PER_S)] * 2]
          ], notes: ["Work is calibrated so that CPU is 30% of an undisturbed request in Ruby without YJIT. Server in Go: #{@measured.go}#{" of #{GoServer::YEARS[@measured.go[/\Ago\d+\.\d+/]]}" if GoServer::YEARS.key?(@measured.go[/\Ago\d+\.\d+/])}, as Debian has it."])
        end

        def grid
          rounds = @measured.grid
          rows = rounds.loads.map do |asked|
            puma, go = rounds.names.map { |name| %w[throughput p50 p99].map { |metric| rounds.estimate(metric, name, asked) } }
            [asked.to_s, rate(puma.first), rate(go.first), Report::Figures.ratio(rounds.ratio("throughput", asked, of: rounds.names.first, over: rounds.names.last)),
              *[puma, go].flat_map { |_, p50, p99| [time(p50), time(p99)] }]
          end
          Lab::Table.new(title: "The story's grid", headings: ["load", "Puma, requests/s", "Go, requests/s", "Puma over Go", "Puma p50", "p99", "Go p50", "p99"], rows:,
            notes: ["Puma: one process, 50 threads, no YJIT. A new connection for each request, as with `ab`. Median and range of the rounds; the ratio with its 95% interval."])
        end

        def inversion
          rows = @measured.talk.inversion.map do |given|
            [given.reading.title, given.reading.threads_count.to_s, Units.rate(given.puma_per_s), Units.rate(given.go_per_s), format("%.2fx", given.share_ratio),
              given.processes_count&.to_s || "more than #{Inversion::MOST_PROCESSES}", format("%.0f%%", (given.miss_ratio - 1) * 100)]
          end
          published = ["as published", "-", Inversion::PUMA_PER_S.to_s, Report::Figures.count(Inversion::GO_PER_S), format("%.2fx", Inversion::SHARE_RATIO), "at least #{Inversion::PROCESSES_COUNT}", "-"]
          Lab::Table.new(title: "Which request the talk must have run, by the simulator", rows: [published, *rows],
            headings: ["request", "threads", "Puma, requests/s", "Go, requests/s", "Puma over Go, 50 clients", "processes that match", "off by"],
            notes: ["#{Inversion::CORES_COUNT} cores; throughputs by #{Inversion::MORE_CLIENTS} clients. Off by: the worst of the three numbers, by factor. The last row is the CPU, between " \
              "#{Units.duration(Inversion::SEARCHED_NS.begin)} and #{Units.duration(Inversion::SEARCHED_NS.end)}, that misses least with two processes too few; it is what /talk does. " \
              "A pool of 31 threads gives such figures, too: by throughputs alone it can't be told from the GVL."])
        end

        def talk
          talk = @measured.talk
          rows = talk.rounds.loads.product(talk.rounds.names).map do |asked, name|
            throughput, p50, p99, cpu, memory = %w[throughput p50 p99 cpu memory].map { |metric| talk.rounds.estimate(metric, name, asked) }
            [asked.to_s, name, rate(throughput), time(p50), time(p99), time(cpu), Report::Figures.mib(memory&.value)]
          end
          Lab::Table.new(title: "The talk's own request, measured", headings: ["load", "server", "requests/s", "p50", "p99", "CPU per request", "memory, MiB"], rows:,
            notes: ["#{Units.duration(talk.chosen.reading.cpu_ns)} of CPU: #{Units.duration(talk.overhead_ns)} that Puma and its client take for a request without work here, and " \
              "#{Report::Figures.count(talk.units)} units of work. Go does the same work. Theirs had #{Inversion::CORES_COUNT} cores; here there are #{Etc.nprocessors}, for database and generator, too."])
        end

        def capacity
          rounds = @measured.capacity.rounds
          rows = rounds.loads.product(rounds.names).map { |asked, name| capacity_row(rounds, asked, name) }
          Lab::Table.new(title: "What each server can take, and what it costs", rows:,
            headings: ["load", "server", "requests/s", "p99", "memory, MiB", "CPU per request", "CPU-s per million", "GiB-hours per million"],
            notes: ["/realistic: the same work; /level: as much CPU time in Go as in Ruby. Memory: of all processes after the load, as if they were alone on the machine. " \
              "#{Units.counted(@measured.sizes.saturated, "client")}. Database and generator share the cores with the server."])
        end

        def capacity_row(rounds, asked, name)
          throughput, p99, memory, cpu = %w[throughput p99 memory cpu].map { |metric| rounds.estimate(metric, name, asked) }
          cost = Cost.of(cpu_ns: cpu&.value, memory_bytes: memory&.value, throughput_per_s: throughput.value)
          [asked.to_s, name, rate(throughput), time(p99), Report::Figures.mib(memory&.value), time(cpu), Report::Figures.count(cost.cpu_s&.round),
            cost.gib_hours ? Units.significant(cost.gib_hours) : "-"]
        end

        def open_loops
          rows = @measured.capacity.open.flat_map do |(path, name), turns|
            turns.map do |rate_per_s, turn|
              outcome = turn.outcome
              [path, name, Units.rate(rate_per_s), Units.rate(outcome.throughput_per_s), Units.duration(outcome.p50_ns), Units.duration(outcome.p99_ns), Report::Figures.count(outcome.unanswered_count.to_i)]
            end
          end
          Lab::Table.new(title: "Open loops up to saturation", headings: ["path", "server", "asked per second", "answered per second", "p50", "p99", "unanswered"], rows:,
            notes: ["Arrivals by chance (Poisson), latency from the intended instant; #{Units.duration(@measured.sizes.open_s * Units::NS_PER_S)} each. " \
              "Beyond what a server can take its queue only grows, and latency is that of the queue at the end."])
        end

        def checks
          rows = @measured.checks.map { |check| [check.name, check.asked.to_s, Units.rate(check.by_ab_per_s), Units.rate(check.ours_per_s), format("%.2fx", check.ours_per_s / check.by_ab_per_s)] }
          Lab::Table.new(title: "Cross-check: the same by `ab`", headings: ["server", "load", "ab, requests/s", "ours, requests/s", "ours over ab"], rows:,
            notes: ["ab -n #{@measured.sizes.ab.fetch(:requests_count)}: once each, one after the other. ab's last requests are answered by a server that has fewer and fewer to serve."])
        end

        def sweep
          rows = @measured.cells.map { |cell| [percent(cell.io_ratio), cell.threads.to_s, *pairs(cell), cell.disturbed ? "yes" : "no"] }
          Lab::Table.new(title: "Threads against IO: measured, predicted", rows:,
            headings: ["IO", "threads", "requests/s", "predicted", "p50", "predicted", "p99", "predicted", "GVL wait", "predicted", "disturbed"],
            notes: ["One process, #{@measured.sizes.clients_count} clients in a closed loop, requests of #{Units.duration(@measured.sizes.whole_s * Units::NS_PER_S)} in all. " \
              "Predicted: from one recording for each share of IO, at 1x5."])
        end

        def pairs(cell)
          forecast = cell.forecast
          [Units.rate(cell.throughput_per_s.value), Units.rate(forecast&.throughput_per_s&.value), *[[cell.p50_ns.value, forecast&.p50_ns&.value],
            [cell.p99_ns.value, forecast&.p99_ns&.value], [cell.gvl_wait_ns, forecast&.gvl_wait_ns&.value]].flatten.map { |ns| Units.duration(ns) }]
        end

        def advised
          rows = Accuracy.new(@measured.cells).advised.map do |one|
            [percent(one.io_ratio), one.best.to_s, *Advised::NAMES.map { |name| one.threads.fetch(name) ? "#{one.threads.fetch(name)}: #{percent(one.kept.fetch(name))}" : "-" }]
          end
          Lab::Table.new(title: "Threads by each piece of advice, and how much of the best throughput they have", headings: ["IO", "best", *Advised::NAMES], rows:,
            notes: ["Best: the fewest threads whose repeats reach into those of the highest throughput, or come within #{percent(Picks::ALIKE_RATIO)} of it. Where the advised number was not measured, the nearest one stands in. " \
              "Amdahl: where a thread more brings less than #{percent(Picks::AMDAHL_LEAST_GAIN_RATIO)}. Forecast: the fewest threads within #{percent(Picks::ALIKE_RATIO)} of the highest predicted throughput."])
        end

        def accuracy
          rows = Accuracy.new(@measured.cells).rows.map do |row|
            [row.metric, row.count.to_s, Units.percent(row.median_ratio), Units.percent(row.p90_ratio), Report::Figures.error(row.worst_ratio), percent(row.inside_ratio)]
          end
          Lab::Table.new(title: "The predictor's error on this grid", headings: ["metric", "cells", "median", "90th percentile", "worst", "within the 95% interval"], rows:,
            notes: ["Predicted over measured, less 1; absolute but for the worst. Nothing is corrected: a cell is predicted from its share's recording alone, whatever the machine's speed or the " \
              "CPU per request was while the cell was measured. GVL wait: of cells that have #{Units.duration(Accuracy::LEAST_GVL_WAIT_NS)} or more of it. " \
              "#{@measured.cells.count(&:disturbed)} of #{@measured.cells.size} cells were disturbed by others on the machine, and count."])
        end

        def variants
          all = {"realistic" => @measured.variants.realistic, "io-only" => @measured.variants.waiting, "9 io-only to 1 cpu-only" => @measured.variants.mixed}
          rows = all.flat_map { |title, rounds| rounds.names.map { |name| [title, name, *variant_row(rounds, name)] } }
          Lab::Table.new(title: "Variants", headings: ["load", "server", "requests/s", "p50", "p99", "CPU per request", "memory, MiB"], rows:,
            notes: ["#{@measured.sizes.saturated} clients; the first of each load is what the others are held against. Falcon has no threads, and a fiber for each request."])
        end

        def variant_row(rounds, name)
          throughput, p50, p99, cpu, memory = %w[throughput p50 p99 cpu memory].map { |metric| rounds.estimate(metric, name, rounds.loads.first) }
          [rate(throughput), time(p50), time(p99), time(cpu), Report::Figures.mib(memory&.value)]
        end
      end
    end
  end
end
