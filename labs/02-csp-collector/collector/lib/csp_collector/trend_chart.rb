# frozen_string_literal: true

module CspCollector
  # Reports over time, as bars. Numbers only: nothing of a report gets in.
  class TrendChart
    WIDTH = 960
    HEIGHT = 200
    LEFT = 56
    BOTTOM = 24
    TOP = 12

    FORMATS = {"minute" => "%H:%M", "hour" => "%-d %b %H:%M", "day" => "%-d %b"}.freeze

    # @param trend [Statistics::Trend]
    def initialize(trend)
      @trend = trend
      @most_count = nice([trend.points.map(&:last).max || 0, 1].max)
    end

    # @return [String] an SVG element
    def svg
      <<~SVG
        <svg class="chart" role="img" aria-label="#{label}" viewBox="0 0 #{WIDTH} #{HEIGHT}">
        #{[0, @most_count / 2, @most_count].uniq.map { |count| line(count) }.join}#{bars}#{times}
        </svg>
      SVG
    end

    # @return [String] in words, for whom the picture is nothing
    def label
      most = @trend.points.max_by(&:last)
      return "no reports" if most.nil? || most.last.zero?
      "Reports by #{@trend.by}, #{@trend.points.size} bars; the highest, at #{time(most.first)} UTC, is #{most.last}"
    end

    private

    def bars
      wide = (WIDTH - LEFT).fdiv(@trend.points.size)
      @trend.points.each_with_index.filter_map do |(start_s, count), index|
        next if count.zero?
        height = [(HEIGHT - BOTTOM - TOP) * count.fdiv(@most_count), 1].max
        %(<rect x="#{(LEFT + index * wide).round(2)}" y="#{(HEIGHT - BOTTOM - height).round(2)}" width="#{[wide * 0.85, 0.8].max.round(2)}" ) +
          %(height="#{height.round(2)}"><title>#{time(start_s)} UTC: #{count}</title></rect>)
      end.join
    end

    def line(count)
      y = (HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * count.fdiv(@most_count)).round(2)
      %(<line x1="#{LEFT}" x2="#{WIDTH}" y1="#{y}" y2="#{y}"/><text class="count" x="#{LEFT - 6}" y="#{y + 4}">#{short(count)}</text>)
    end

    # A time at the left, in the middle and at the right; the text's own end is at the chart's.
    def times
      return "" if @trend.points.empty?
      {0 => "start", (@trend.points.size - 1) / 2 => "middle", @trend.points.size - 1 => "end"}.map do |index, anchor|
        x = LEFT + {"start" => 0, "middle" => 0.5, "end" => 1}.fetch(anchor) * (WIDTH - LEFT)
        %(<text x="#{x}" y="#{HEIGHT - 6}" class="#{anchor}">#{time(@trend.points[index].first)}</text>)
      end.join
    end

    def time(start_s) = Time.at(start_s, in: "UTC").strftime(FORMATS.fetch(@trend.by))

    def short(count)
      return "#{count / 1_000_000}M" if count >= 1_000_000 && (count % 1_000_000).zero?
      (count >= 10_000 && (count % 1_000).zero?) ? "#{count / 1_000}k" : count.to_s
    end

    # The next number whose half is one that people read easily.
    def nice(count)
      size = 10**Math.log10(count).floor
      [1, 2, 4, 6, 8, 10].map { |factor| factor * size }.find { |number| number >= count }
    end
  end
end
