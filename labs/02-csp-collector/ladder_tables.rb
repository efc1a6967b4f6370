# frozen_string_literal: true

module PumaTuner
  module Labs
    # The tables of the ladder: each rung's figures and budget, other proofs, the overload.
    class CspLadderTables
      # @param verdicts [Hash{String => Prove::Verdict}] by title
      # @param overloads [Array<CspOverload::Result>]
      def initialize(verdicts, overloads)
        @verdicts = verdicts
        @overloads = overloads
      end

      # @return [Array<Lab::Table>]
      def call = [*@verdicts.map { |title, verdict| figures(title, verdict) }, *middlewares, budgets, overload]

      private

      def figures(title, verdict)
        metrics = %w[throughput cpu_per_request allocations_per_request gc_per_request p50 pss boot].map { |name| Prove::Metric::SERVED.find { |metric| metric.name == name } }
        rows = verdict.cells.map do |cell|
          speed = Lab::Ratios.of(verdict, "cpu_per_request", of: verdict.baseline, over: cell.variant) unless cell.variant == verdict.baseline
          [cell.variant, *metrics.map { |metric| Report::Figures.estimate(metric, cell.estimates[metric.name]) }, speed ? Report::Figures.ratio(speed) : "1"]
        end
        Lab::Table.new(title: title.capitalize, headings: ["rung", *metrics.map(&:label), "by CPU, over the first"], rows:,
          notes: ["Middle and range of #{verdict.rounds_count} rounds. Over the first: how many times as fast by CPU time, with its 95% interval.", *unsteady(verdict)])
      end

      def unsteady(verdict)
        told = verdict.cells.filter_map { |cell| "#{cell.variant} in #{cell.unsteady_count}" if cell.unsteady_count.positive? }
        told.any? ? ["Not steady when measured: #{told.join(", ")} of #{verdict.rounds_count} rounds."] : []
      end

      # What is gone with each middleware, of all that are there.
      def middlewares
        [CspMeasured::EACH_TITLE, CspMeasured::EACH_OF_DEVELOPMENT_TITLE].filter_map do |title|
          verdict = @verdicts[title] or next
          whole, *others = verdict.cells
          rows = others.map do |cell|
            ratio = Lab::Ratios.of(verdict, "cpu_per_request", of: cell.variant, over: whole.variant)
            [cell.variant.delete_prefix("without "), duration(spared(whole, cell, "cpu_per_request")), Report::Figures.ratio(ratio), spared(whole, cell, "allocations_per_request")&.round(1).to_s]
          end
          Lab::Table.new(title: "What #{title} costs a request", headings: ["middleware", "CPU time", "CPU time without it", "objects"], rows:,
            notes: ["All others are there. Differences of middles; without it: as a ratio to all, with its 95% interval."])
        end
      end

      def spared(whole, cell, metric) = [whole, cell].map { |one| one.estimates[metric]&.value }.then { |before, after| before - after if before && after }

      # Where the time of each rung goes, and what of the rung before has gone.
      def budgets
        cells = @verdicts.fetch(CspMeasured::LADDER).cells
        rows = [nil, *cells].each_cons(2).map { |before, cell| row_of_budget(cell, before) }
        Lab::Table.new(title: "Where a request's time goes", rows:,
          headings: ["rung", "CPU", "less than the rung before", "within the request", "of it GC", "beside it", "waits for the GVL", "io"],
          notes: ["Within the request: by the probe, in a short load of its own, so that it costs something itself. Beside it: the rest of the CPU time, as of the reactor, " \
            "of other threads, of the acceptor. The loop has no requests of Puma's that the probe could see."])
      end

      def row_of_budget(cell, before)
        cpu_ns, before_ns = [cell, before].map { |one| one&.estimates&.fetch("cpu_per_request")&.value }
        budget = cell.budget
        [cell.variant, duration(cpu_ns), duration(before_ns && before_ns - cpu_ns), duration(budget&.cpu_ns), duration(budget&.gc_ns),
          duration(budget && [cpu_ns - budget.cpu_ns, 0].max), duration(budget&.gvl_wait_ns), duration(budget&.io_ns)]
      end

      def duration(ns)
        return "-" unless ns
        ns.negative? ? "-#{Units.duration(-ns)}" : Units.duration(ns)
      end

      def overload
        rows = @overloads.map do |result|
          [result.variant, Units.rate(result.capacity_per_s), duration(result.cpu_ns), result.kernel_ratio ? Units.percent(result.kernel_ratio) : "-", Units.rate(result.rate_per_s),
            *[result.due_count, result.created_count, result.shed_count, result.other_count + result.broken_count + result.unanswered_count, result.lines_count].map { |number| Report::Figures.count(number) },
            duration(result.p50_ns), duration(result.p99_ns)]
        end
        Lab::Table.new(title: "Twice the load that it can take", rows:,
          headings: ["rung", "capacity, requests/s", "CPU per request", "of it in the kernel", "sent/s", "due", "201", "503", "neither", "lines", "p50", "p99"],
          notes: ["An open loop over at most #{Report::Figures.count(CspOverload::CONNECTIONS_COUNT)} connections, which are waited for after its end. Latency counts from the intended instant."])
      end
    end
  end
end
