# frozen_string_literal: true

require "digest"
require "erb"
require_relative "filter"
require_relative "noise"
require_relative "trend_chart"

module CspCollector
  # The report as a page of HTML: no script, nothing fetched. All that comes from reports goes through `h`.
  class Page
    STYLE = File.read(File.join(__dir__, "page.css")).freeze
    TEMPLATE = ERB.new(File.read(File.join(__dir__, "page.html.erb")), trim_mode: "-").tap { |template| template.filename = "page.html.erb" }

    # Its own policy: a collector's page should do as it says. Nothing but the style above, known by its digest.
    POLICY = "default-src 'none'; style-src 'sha256-#{Digest::SHA256.base64digest(STYLE)}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

    RANGES = {"1h" => "last hour", "24h" => "last 24 hours", "7d" => "last 7 days", "30d" => "last 30 days", "all" => "all time"}.freeze
    NOISES = {"hide" => "hide", "show" => "show", "only" => "only noise"}.freeze

    # @param filter [Filter]
    # @param statistics [Statistics]
    def initialize(filter, statistics)
      @filter = filter
      @violations = statistics.violations(filter)
      @chart = TrendChart.new(@trend = statistics.trend(filter))
      @directives = statistics.choices(:directive)
      @browsers = statistics.choices(:browser)
      @tallies = statistics.tallies
    end

    # @return [String]
    def html = TEMPLATE.result(binding)

    private

    def h(text) = ERB::Util.html_escape(text)

    # @return [String] the same page with some things changed
    def link(**changes)
      query = @filter.query(**changes)
      query.empty? ? "/" : "/?#{query}"
    end

    def options(choices, chosen)
      choices.map { |value, text| %(<option value="#{h(value)}"#{" selected" if value == chosen}>#{h(text)}</option>) }.join
    end

    def pages_count = [(@violations.kinds_count.to_f / @filter.per_page).ceil, 1].max

    def time(seen_at_s) = Time.at(seen_at_s, in: "UTC").strftime("%Y-%m-%d %H:%M")

    def count(number) = number.to_s.gsub(/(?<=\d)(?=(?:\d{3})+\z)/, ",")

    def reports(number) = "#{count(number)} #{(number == 1) ? "report" : "reports"}"

    def hidden_count = @violations.hidden_counts.values.sum
  end
end
