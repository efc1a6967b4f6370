# frozen_string_literal: true

require "json"
require_relative "filter"
require_relative "page"
require_relative "statistics"

module CspCollector
  # What the reports add up to, as a page and as JSON. What it shows was sent by anybody: it is data everywhere.
  class ReportApp
    COMMON = {"x-content-type-options" => "nosniff", "referrer-policy" => "no-referrer", "cache-control" => "no-store",
              "cross-origin-resource-policy" => "same-origin"}.freeze
    HTML = {**COMMON, "content-type" => "text/html; charset=utf-8", "content-security-policy" => Page::POLICY}.freeze
    DATA = {**COMMON, "content-type" => "application/json", "content-security-policy" => "default-src 'none'; frame-ancestors 'none'"}.freeze
    TEXT = {**COMMON, "content-type" => "text/plain; charset=utf-8", "content-security-policy" => "default-src 'none'"}.freeze

    # @param database [String] its path
    # @param clock [#call]
    def initialize(database, clock: -> { Time.now })
      @database = database
      @clock = clock
    end

    # @param env [Hash] Rack's
    # @return [Array] Rack's
    def call(env)
      return [405, {**TEXT, "allow" => "GET, HEAD"}, ["There is only GET here.\n"]] unless %w[GET HEAD].include?(env["REQUEST_METHOD"])
      status, headers, body = answer(env["PATH_INFO"], env["QUERY_STRING"])
      [status, headers.dup, (env["REQUEST_METHOD"] == "HEAD") ? [] : [body]]
    end

    private

    def answer(path, query)
      case path
      when "/" then [200, HTML, ask(query) { |filter, statistics| Page.new(filter, statistics).html }]
      when "/api/violations" then [200, DATA, json(ask(query) { |filter, statistics| violations(filter, statistics) })]
      when "/api/trend" then [200, DATA, json(ask(query) { |filter, statistics| trend(filter, statistics) })]
      else [404, TEXT, "There is no such page.\n"]
      end
    rescue ArgumentError => error
      path.start_with?("/api/") ? [400, DATA, json("error" => error.message)] : [400, TEXT, "#{error.message}\n"]
    rescue SQLite3::BusyException
      [503, {**TEXT, "retry-after" => "2"}, "The database is busy.\n"]
    end

    def ask(query)
      filter = Filter.parse(query)
      Statistics.open(@database, clock: @clock) { |statistics| yield filter, statistics }
    end

    def violations(filter, statistics)
      found = statistics.violations(filter)
      {"page" => filter.page, "per_page" => filter.per_page, "kinds_count" => found.kinds_count, "reports_count" => found.reports_count,
       "hidden_counts" => found.hidden_counts, "violations" => found.rows.map { |row| row_facts(row) }}
    end

    def row_facts(row)
      seen = {"first_seen" => time(row.first_seen_s), "last_seen" => time(row.last_seen_s)}
      {"directive" => row.directive, "host" => row.host, "path" => row.path, "browser" => row.browser, "noise" => row.noise,
       "reports_count" => row.reports_count, **seen}
    end

    def trend(filter, statistics)
      found = statistics.trend(filter)
      {"by" => found.by, "points" => found.points.map { |start_s, count| {"from" => time(start_s), "reports_count" => count} }}
    end

    def time(seen_at_s) = Time.at(seen_at_s).utc.strftime("%FT%TZ")

    def json(value) = JSON.generate(value, ascii_only: true) << "\n"
  end
end
