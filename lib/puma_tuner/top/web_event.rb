# frozen_string_literal: true

module PumaTuner
  module Top
    # What the page is told of a status, as plain values for JSON: sentences, cells as they are printed, and numbers to
    # draw. Texts of the app's stay texts: the page never makes markup of them.
    module WebEvent
      # So many looks stay for a page that is opened later: five minutes at the usual interval.
      HISTORY_MAX = 150

      module_function

      # @param status [Status]
      # @return [Hash{Symbol => Object}]
      def of(status)
        {at: status.at, sentence: Report::TopWords.sentence(status.diagnosis), about: about(status),
         cost: cost(status.cost), why_not: status.why_not && Report::Figures.printable(status.why_not),
         endpoints: status.endpoints.map { |row| endpoint(row) }, workers: status.workers.map { |row| worker(row) },
         threads: status.background.map { |row| thread(row) }, outlook: outlook(status.outlook),
         recommended: Report::TopWords.recommendation(status.recommendation)}
      end

      # @param status [Status]
      # @return [Hash{Symbol => Object}] a point of the charts
      def point(status)
        budget = status.requests.map(&:budget).reduce(:+)
        {at: status.at, per_s: status.throughput_per_s.round(2), p50_ms: milliseconds(status.p50_ns),
         p99_ms: milliseconds(status.p99_ns), parts: shares(budget)}
      end

      # @return [Array<Hash>] parts in the order of bars, with letter and word
      def parts
        Screen::PARTS.map do |part, (letter, *)|
          told = Report::Parts.named(part)
          {name: part, letter:, word: told.word, meaning: told.meaning}
        end
      end

      def about(status)
        {topology: status.topology && Report::Figures.topology(status.topology), pid: status.pid,
         folder: status.folder && Report::Figures.printable(status.folder),
         requests: Report::Figures.counted(status.requests_count, "request"),
         window: Units.duration(status.window_ns), per_s: Units.rate(status.throughput_per_s),
         p50: Units.duration(status.p50_ns), p99: Units.duration(status.p99_ns)}
      end

      def cost(cost)
        return unless cost
        {status: Units.percent(cost.status_ratio), outlook: cost.outlook_ratio && Units.percent(cost.outlook_ratio)}
      end

      def endpoint(row)
        {name: "#{"job " if row.kind == "job"}#{Report::Figures.printable(row.name)}",
         cells: [Units.rate(row.throughput_per_s), Report::Figures.count(row.requests_count),
           Units.milliseconds(row.p50_ns),
           "#{"~" if row.requests_count < Screen::FEW}#{Units.milliseconds(row.p99_ns)}"],
         parts: shares(row.budget), cause: Report::TopWords.cause(row.cause)}
      end

      def worker(row)
        busy = row.busy_mean ? Units.significant(row.busy_mean) : "-"
        {name: row.worker_index&.to_s || "single",
         cells: [row.pid.to_s, Units.rate(row.throughput_per_s),
           "#{busy}#{" of #{row.threads_count}" if row.threads_count}", Units.significant(row.queued_mean),
           row.cpu_ratio ? format("%.0f%%", row.cpu_ratio * 100) : "-", Units.mebibytes(row.pss_bytes),
           (row.yjit == "on") ? Units.mebibytes(row.code_bytes) : row.yjit || "-"]}
      end

      def thread(row)
        {name: Report::Figures.printable(row.name), parts: shares(row.budget),
         cells: [row.cpu_ratio ? format("%.1f%%", row.cpu_ratio * 100) : "-", Units.milliseconds(row.made_wait_ns)]}
      end

      def outlook(outlook)
        why_not = Report::TopWords.why_no_forecast(outlook)
        return {why_not:} if why_not
        rows = outlook.settings.map do |one|
          {name: "#{one.topology}#{" (now)" if one == outlook.today}",
           cells: one.unsteady ? %w[overload overload] : [estimate(one.throughput_per_s) { |per_s| Units.rate(per_s) },
             estimate(one.p99_ns) { |ns| Units.milliseconds(ns) }]}
        end
        {rows:, requests: Report::Figures.counted(outlook.requests_count, "recorded request")}
      end

      def estimate(estimate, &) = Report::Figures.with_range(estimate, &)

      # @return [Array<Float>, nil] of the wall time, in the order of parts; nil where they are unknown
      def shares(budget)
        return if budget.nil? || budget.gvl_wait_ns.nil? || !budget.wall_ns.positive?
        Screen::PARTS.keys.map { |part| (budget.share_ratio(part) || 0.0).clamp(0.0, 1.0).round(4) }
      end

      def milliseconds(ns) = ns&.fdiv(Units::NS_PER_MS)&.round(3)

      private_class_method :about, :cost, :endpoint, :worker, :thread, :outlook, :estimate, :shares, :milliseconds
    end
  end
end
