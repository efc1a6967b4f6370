# frozen_string_literal: true

module PumaTuner
  module Report
    module Sections
      # A running server, as `puma_tuner top --json` saw it in one window.
      class Status < Base
        # @param status [Top::Status]
        def initialize(status)
          @status = status
        end

        # @return [Blocks::Page]
        def page
          Page.new(title: TopWords.sentence(@status.diagnosis), kicker: "PumaTuner top", date: @status.at, conditions:,
            parts: [
              Part.new(id: "served", title: "What is served?", sections: [endpoints, workers, background]),
              Part.new(id: "settings", title: "What would other settings do?", sections: [outlook])
            ])
        end

        private

        def conditions
          "#{Figures.counted(@status.requests_count, "request")} in #{Units.duration(@status.window_ns)}, " \
            "#{Units.rate(@status.throughput_per_s)}/s; process #{@status.pid}" \
            "#{", #{Figures.topology(@status.topology)}" if @status.topology}"
        end

        def endpoints
          return if @status.endpoints.empty?
          parts = Parts.sort(@status.endpoints.map(&:budget)).seen
          columns = [Column.new("endpoint"), Column.new("requests", :count), Column.new("req/s", :rate),
            Column.new("p50", :duration), Column.new("p99", :duration),
            *parts.map { |part| Column.new(part.word, :share, part.meaning) }, Column.new("caused by")]
          rows = @status.endpoints.map do |one|
            Row.new([one.name, one.requests_count, one.throughput_per_s, one.p50_ns, one.p99_ns,
              *parts.map { |part| Parts.ratio(one.budget, part) }, TopWords.cause(one.cause)])
          end
          section("endpoints", "Endpoints", columns, rows)
        end

        def workers
          columns = [Column.new("worker"), Column.new("process", :figure), Column.new("req/s", :rate),
            Column.new("busy threads", :decimal), Column.new("queue", :decimal), Column.new("CPU cores", :cores),
            Column.new("PSS", :mebibytes), Column.new("machine code", :mebibytes)]
          rows = @status.workers.map do |one|
            Row.new([one.worker_index&.to_s || "single", one.pid.to_s, one.throughput_per_s, one.busy_mean,
              one.queued_mean, one.cpu_ratio, one.pss_bytes, one.code_bytes])
          end
          section("workers", "Workers, in the mean", columns, rows)
        end

        def background
          columns = [Column.new("thread"), Column.new("CPU cores", :cores), Column.new("made requests wait", :duration)]
          rows = @status.background.map { |one| Row.new([one.name, one.cpu_ratio, one.made_wait_ns]) }
          section("background", "Threads that serve no requests", columns, rows)
        end

        def outlook
          why_not = TopWords.why_no_forecast(@status.outlook)
          recommendation = TopWords.recommendation(@status.recommendation)
          recommended = "Recommended: #{recommendation}." if recommendation
          if why_not
            return Section.new("outlook", "Forecasts",
              ["There is none: #{why_not}.", *recommended].map { |text| Note.new(text) })
          end
          columns = [Column.new("workers x threads"), Column.new("req/s", :rate), Column.new("p99", :duration)]
          rows = @status.outlook.settings.map do |one|
            Row.new([one.topology.to_s, one.throughput_per_s || "overload", one.p99_ns])
          end
          section("outlook", "Forecasts for the same traffic", columns, rows,
            "95% intervals, from #{Figures.counted(@status.outlook.requests_count, "recorded request")}.", *recommended)
        end

        def section(id, title, columns, rows, *notes)
          return if rows.empty?
          Section.new(id, title, [Table.new(columns, rows, style: "dense"), *notes.map { |text| Note.new(text) }])
        end
      end
    end
  end
end
