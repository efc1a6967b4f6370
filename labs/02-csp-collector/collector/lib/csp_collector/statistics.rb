# frozen_string_literal: true

require "sqlite3"
require_relative "filter"

module CspCollector
  # Questions to a store. It opens the database for reading only, and anew for each visitor: the aggregator may be writing
  # to it, replace it, or not have made it yet.
  class Statistics
    # Bars that a chart has room for.
    POINTS_COUNT = 750

    # reports_count: in the range; first_seen_s, last_seen_s: within it
    Row = Data.define(:directive, :host, :path, :browser, :noise, :reports_count, :first_seen_s, :last_seen_s)

    # rows: of the page; kinds_count, reports_count: of all pages; hidden_counts: kind of noise => reports that are left out
    Violations = Data.define(:rows, :kinds_count, :reports_count, :hidden_counts)

    # by: a window; points: [start in seconds, reports] of each, without gaps
    Trend = Data.define(:by, :points)

    # @param path [String] of the database
    # @yieldparam statistics [Statistics]
    # @return [Object] the block's
    def self.open(path, clock: -> { Time.now })
      db = SQLite3::Database.new(path, readonly: true) if File.file?(path)
      db&.busy_timeout = 5_000
      db = empty(db) if db.nil? || db.get_first_value("PRAGMA user_version").zero?
      yield new(db, clock.call.to_i)
    ensure
      db&.close
    end

    # In the place of a database that is just being made.
    def self.empty(unmade)
      unmade&.close
      SQLite3::Database.new(":memory:").tap { |db| db.execute_batch(Store::SCHEMA) }
    end
    private_class_method :empty

    def initialize(db, now_s)
      @db = db
      @now_s = now_s
    end

    # @param filter [Filter]
    # @return [Violations]
    def violations(filter)
      where, values = conditions(filter)
      grouped = "SELECT directive, host, path, browser, noise, sum(reports_count) AS reports, min(first_seen_s), max(last_seen_s) " \
                "FROM violations WHERE #{where} GROUP BY directive, host, path, browser, noise"
      rows = @db.execute("#{grouped} ORDER BY reports DESC, directive, host, path, browser, noise LIMIT ? OFFSET ?",
        [*values, filter.per_page, (filter.page - 1) * filter.per_page])
      kinds_count, reports_count = @db.get_first_row("SELECT count(*), coalesce(sum(reports), 0) FROM (#{grouped})", values)
      Violations.new(rows: rows.map { |row| Row.new(*row) }, kinds_count:, reports_count:, hidden_counts: hidden_counts(filter))
    end

    # @param filter [Filter]
    # @return [Trend]
    # @raise [ArgumentError] by a window that was not kept, or is too short for the range
    def trend(filter)
      by = filter.by || usual_window(filter)
      span_s = Store::WINDOWS_S.fetch(by)
      raise ArgumentError, "by is a shorter window than the counts have, which is the #{kept_window}" if span_s < kept_window_s
      where, values = conditions(filter)
      counts = @db.execute("SELECT window_start_s / #{span_s} * #{span_s} AS start_s, sum(reports_count) FROM violations WHERE #{where} GROUP BY start_s", values).to_h
      first_s = filter.since_s(@now_s) || counts.keys.min || @now_s
      starts = ((first_s / span_s * span_s)..@now_s).step(span_s)
      raise ArgumentError, "by is too short a window for this range" if starts.size > POINTS_COUNT && filter.by
      Trend.new(by:, points: starts.map { |start_s| [start_s, counts.fetch(start_s, 0)] }.last(POINTS_COUNT))
    end

    # @param column [Symbol] :directive or :browser
    # @return [Array<String>] what there is
    def choices(column) = @db.execute("SELECT DISTINCT #{{directive: "directive", browser: "browser"}.fetch(column)} FROM violations ORDER BY 1").flatten

    # @return [Hash{String => Integer}] what the aggregator has read
    def tallies = @db.execute("SELECT name, value FROM tallies").to_h

    private

    # @return [Array(String, Array)] SQL of ours alone, and what is bound to it
    def conditions(filter, noise: filter.noise)
      parts = {"directive = ?" => filter.directive, "host = ?" => filter.host&.downcase, "browser = ?" => filter.browser}.compact
      if filter.path&.end_with?("*")
        parts["substr(path, 1, length(?)) = ?"] = [filter.path.chop] * 2
      elsif filter.path
        parts["path = ?"] = filter.path
      end
      since_s = filter.since_s(@now_s)
      # The window that is under way at the range's beginning counts in full.
      parts["window_start_s > ?"] = since_s - kept_window_s if since_s
      parts[{"hide" => "noise = ''", "only" => "noise <> ''", "show" => "true"}.fetch(noise)] = []
      [parts.keys.join(" AND "), parts.values.flatten]
    end

    def hidden_counts(filter)
      return {} unless filter.noise == "hide"
      where, values = conditions(filter, noise: "only")
      @db.execute("SELECT noise, sum(reports_count) FROM violations WHERE #{where} GROUP BY noise ORDER BY 2 DESC, 1", values).to_h
    end

    def usual_window(filter)
      wanted = {"1h" => "minute", "24h" => "hour", "7d" => "hour"}.fetch(filter.range, "day")
      (Store::WINDOWS_S.fetch(wanted) < kept_window_s) ? kept_window : wanted
    end

    def kept_window = @kept_window ||= @db.get_first_value("SELECT value FROM settings WHERE name = 'window'") || "hour"

    def kept_window_s = Store::WINDOWS_S.fetch(kept_window)
  end
end
