# frozen_string_literal: true

module PumaTuner
  module Fleet
    # Asks for all spans of a group.
    class GroupReader
      # @param prometheus [Prometheus]
      # @param queries [Queries]
      # @param window [Window]
      def initialize(prometheus, queries, window)
        @prometheus = prometheus
        @queries = queries
        @window = window
      end

      # @return [Array<Span>] one for each of the window's times, also where nothing was
      def spans
        read_all
        @window.times.map { |time_s| span(time_s) }
      end

      # @return [Float, nil] servers that began anew in the window; nil where rules have added them up already
      def restarts_count
        return if @queries.source == :rules
        ask(@queries.resets).sum { |series| series.values.values.sum }
      end

      private

      def ask(query) = @prometheus.range(query, @window)

      def read_all
        @coverage = one(@queries.coverage)
        @most = @coverage.values.max
        ensure_increases
        @duration = by(@queries.counter(:duration), "le")
        @endpoints = ask(@queries.counter(:endpoint_duration)).group_by do |series|
          series.labels.fetch("endpoint", Probe::Endpoint::OTHER)
        end
        @parts = by(@queries.counter(:time), "part")
        @cpu_s = one(@queries.counter(:cpu))
        @levels = Queries::LEVELS.keys.to_h { |name| [name, one(@queries.level(name))] }
      end

      # A single sample tells nobody by how much a counter rose; it would look as if there had been no requests.
      def ensure_increases
        return if @queries.source == :rules
        samples_count = one(@queries.samples).values.max
        return if samples_count.nil? || samples_count >= 2
        raise InvalidMeasurement, "servers are scraped less than twice in a span of #{@window.step_s} s, " \
          "which shows no increase; give a longer --step, such as 5m, or a longer --window"
      end

      # @return [Hash{Integer => Float}] of an expression that gives one series, or none
      def one(query) = ask(query).first&.values.to_h

      # @return [Hash{String => Hash{Integer => Float}}] by a label's value
      def by(query, label) = ask(query).to_h { |series| [series.label(label), series.values] }

      def span(time_s)
        Span.new(seconds: @window.step_s, coverage_ratio: @coverage.fetch(time_s, 0.0) / (@most || 1.0),
          histogram: MergedHistogram.of(at(@duration, time_s)), endpoints: endpoints(time_s),
          parts_s: at(@parts, time_s), cpu_s: @cpu_s[time_s], **levels(time_s))
      end

      def at(series_by_name, time_s) = series_by_name.transform_values { |values| values[time_s] }.compact

      def endpoints(time_s)
        histograms = @endpoints.transform_values do |list|
          MergedHistogram.of(list.to_h { |series| [series.label("le"), series.values[time_s]] }.compact)
        end
        histograms.compact
      end

      # Names of the queries are those of the span's fields, without their units.
      FIELDS = {memory: :memory_bytes, worker_memory: :worker_memory_bytes, code: :code_bytes,
                yjit_limited: :yjit_limited_bytes, yjit_limit: :yjit_limit_bytes, yjit_workers: :yjit_workers_count,
                workers: :workers_count, threads: :threads_count, servers: :servers_count}.freeze

      def levels(time_s) = FIELDS.to_h { |name, field| [field, @levels.fetch(name)[time_s]] }
    end
  end
end
