# frozen_string_literal: true

module PumaTuner
  module Fleet
    # Tells whether a group's data can be used, and what is wrong with it: each fault is told apart, as each has another
    # cause.
    class Health
      # Samples are stamped by Prometheus, so a server's own clock does no harm but to logs held against them. One that
      # is as far off as this is worth a word.
      CLOCK_TOLERANCE_S = 30

      # A span in which servers were missing, and not merely scaled with the day's traffic.
      SERVERS_MIN_RATIO = 0.5

      # @param prometheus [Prometheus]
      # @param source [Symbol]
      def initialize(prometheus, source)
        @prometheus = prometheus
        @source = source
        @info = Queries::INFO.fetch(source)
      end

      # @param name [String] "a" or "b"
      # @param selector [Selector]
      # @param window [Window]
      # @raise [InvalidMeasurement] when there is nothing, or another version's
      def ensure_known(name, selector, window)
        found = info(selector, window)
        raise InvalidMeasurement, "--#{name} #{selector}: #{why_nothing(selector, window)}" if found.empty?
        ensure_labels(name, selector, window)
        ensure_own_endpoint(name, selector, window)
        schemas = found.map { |series| series.labels["schema"] }.uniq
        return if schemas == [Export::SCHEMA]
        raise InvalidMeasurement, "--#{name} #{selector}: #{other_schema(schemas)}"
      end

      # A matcher that a figure's series have no label for matches none of them, or, with != and !~, all.
      #
      # @raise [InvalidMeasurement] when there is a label that figures don't have
      def ensure_labels(name, selector, window)
        label = selector.labels.uniq.find do |one|
          @prometheus.label_values(one, Queries::COMMON.fetch(@source), window).empty?
        end
        raise InvalidMeasurement, "--#{name} #{selector}: #{why_no_label(label, window)}" if label
      end

      # @return [Boolean] whether some of the servers can't tell all parts of a request's time
      def incomplete?(selector, window)
        info(selector, window).any? { |series| series.labels["complete"] == "false" }
      end

      # @return [Array<String>] of the machine that asks
      def of_clock
        ahead_s = @prometheus.clock_ahead_s.to_f
        return [] if ahead_s.abs <= CLOCK_TOLERANCE_S
        ["This machine's clock is #{seconds(ahead_s.abs)} #{ahead_s.positive? ? "ahead of" : "behind"} Prometheus'; " \
          "its own was taken for the window's end."]
      end

      # @return [Array<String>] sentences
      def warnings(name, selector, window, spans)
        [*gaps(name, spans), *missing_servers(name, spans), *incomplete(name, selector, window),
          *clocks(name, selector, window)]
      end

      private

      # Prometheus' operator names the scraped port in a label `endpoint`, and renames ours unless it is told to honor
      # it. All endpoints would be taken for one.
      def ensure_own_endpoint(name, selector, window)
        metric = Queries::COUNTERS.fetch(:endpoint_duration)[(@source == :rules) ? 1 : 0]
        return if @prometheus.label_values("exported_endpoint", selector.of(metric), window).empty?
        raise InvalidMeasurement, "--#{name} #{selector}: the label endpoint names the scraped port, and " \
          "exported_endpoint our endpoints: set honorLabels: true in the ServiceMonitor or PodMonitor " \
          "(honor_labels: true in a scrape config), and choose a --window after that"
      end

      def info(selector, window)
        @prometheus.instant("count by (schema, complete) " \
          "(last_over_time(#{selector.of(@info)}[#{window.duration_s}s]))", window.ends_s)
      end

      def why_nothing(selector, window)
        anywhere = info(Selector.new(matchers: []), window)
        if anywhere.empty?
          return "Prometheus has no metric #{@info} in #{window}. " \
            "Is the exporter scraped (docs/reference/exporter.md)? Does it keep data that long?"
        end
        unknown = selector.labels.uniq.find { |label| @prometheus.label_values(label, @info, window).empty? }
        return why_no_label(unknown, window) if unknown
        known = selector.labels.uniq.map do |label|
          "#{label} is #{@prometheus.label_values(label, @info, window).first(8).map(&:inspect).join(", ")}"
        end
        "no server in #{window} has these labels together; there, #{known.join(", ")}"
      end

      def why_no_label(label, window)
        if @source == :rules
          return "the rules recorded no label #{label} in #{window}: " \
            "--source raw asks each server's own series"
        end
        if @prometheus.label_values(label, @info, window).any?
          return "figures have no label #{label}, #{@info} alone has it; " \
            "set one of your own with PumaTuner.export(labels: …), or by Prometheus' relabelling"
        end
        "no server has a label #{label} in #{window}; set it with PumaTuner.export(labels: …), " \
          "or by Prometheus' relabelling"
      end

      def other_schema(schemas)
        if schemas.include?(nil)
          return "the metrics have no schema label: they are another program's of the same name, or the label was " \
            "dropped"
        end
        if schemas.size > 1
          return "servers with different versions of the exporter (schemas #{schemas.sort.join(", ")}) " \
            "can't be added up; narrow the selector, or wait until all are updated"
        end
        "another version of the exporter wrote it: schema #{schemas.first}, this one reads #{Export::SCHEMA}"
      end

      def gaps(name, spans)
        short_count = spans.count do |span|
          span.coverage_ratio.positive? && span.coverage_ratio < Span::COVERAGE_MIN_RATIO
        end
        empty_count = spans.count { |span| span.coverage_ratio.zero? }
        idle_count = spans.count { |span| span.coverage_ratio >= Span::COVERAGE_MIN_RATIO && !span.usable? }
        [
          ("#{name}: #{of_spans(empty_count, spans)} without any sample, left out." if empty_count.positive?),
          (if short_count.positive?
             "#{name}: #{of_spans(short_count, spans)} with gaps (samples of less than " \
              "#{(Span::COVERAGE_MIN_RATIO * 100).round}% of the time), left out."
           end),
          ("#{name}: #{of_spans(idle_count, spans)} without a request, left out." if idle_count.positive?)
        ].compact
      end

      def of_spans(count, spans) = "#{count} of #{Units.counted(spans.size, "span")}"

      def missing_servers(name, spans)
        counts = spans.select(&:usable?).filter_map(&:servers_count)
        return [] if counts.empty?
        usual = Stats::Quantile.of(counts.sort, 0.5)
        few_count = counts.count { |count| count < usual * SERVERS_MIN_RATIO }
        if few_count.positive?
          ["#{name}: in #{of_spans(few_count, spans)} fewer than half of the usual #{usual.round} servers reported: " \
            "scaled down, or lost. Sums over servers count what there was."]
        else
          []
        end
      end

      def incomplete(name, selector, window)
        return [] unless incomplete?(selector, window)
        ["#{name}: some servers run without the extension, and know no GVL wait, IO and locks; so these are unknown " \
          "of the group."]
      end

      def clocks(name, selector, window)
        metric = selector.of("puma_tuner_clock_seconds")
        off = @prometheus.instant("max(abs(timestamp(#{metric}) - #{metric}))", window.ends_s)
          .first&.values&.values&.first
        return [] if off.nil? || off <= CLOCK_TOLERANCE_S
        ["#{name}: a server's clock is #{seconds(off)} off Prometheus'. Figures here don't depend on it, logs do."]
      end

      def seconds(number) = Units.duration(number * Units::NS_PER_S)
    end
  end
end
