# frozen_string_literal: true

require "test_helper"
require "json"
require "open3"
require "time"
require "tmpdir"
require "support/served_app"
require_relative "../../../labs/02-csp-collector/collector/lib/csp_collector"

# What the tests of the collector share: where it is, its gems, and lines as it writes them.
module CspLab
  FOLDER = File.expand_path("../../../labs/02-csp-collector/collector", __dir__)
  GEMFILE = "#{ServedApp::PROJECT}/gemfiles/csp_collector.gemfile".freeze

  CHROME = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36"
  NOON_S = Time.utc(2026, 3, 2, 12).to_i

  module_function

  # @return [Hash] for a process that sees the lab's gems, and not the project's
  def environment(**more)
    Bundler.unbundled_env.merge(ServedApp::BASE_ENVIRONMENT, "BUNDLE_GEMFILE" => GEMFILE, "RUBYOPT" => nil).compact.merge(more.transform_keys(&:to_s))
  end

  # The project's bundle has no SQLite, so this finds the lab's.
  # @return [Boolean] false when it is not installed
  def sqlite?
    @sqlite ||= begin
      out, status = Open3.capture2e(environment, RbConfig.ruby, "-rbundler/setup", "-e",
        "gem 'sqlite3'; puts Gem.loaded_specs['sqlite3'].full_require_paths", unsetenv_others: true)
      $LOAD_PATH.concat(out.split("\n")) if status.success?
      status.success? ? :there : :missing
    end
    @sqlite == :there
  end

  # @return [Array(String, Integer)] what the command said, and its exit status
  def aggregate(*words, stdin: "")
    out, status = Open3.capture2e(environment, *aggregate_command, *words, stdin_data: stdin, unsetenv_others: true)
    [out, status.exitstatus]
  end

  def aggregate_command = [RbConfig.ruby, "-w", "-rbundler/setup", "#{FOLDER}/bin/csp_aggregate"]

  # @return [Hash] a browser's report
  def csp_report(directive: "script-src-elem", blocked: "https://evil.test/x.js", document: "https://shop.test/cart?a=1", **more)
    {"csp-report" => {"document-uri" => document, "effective-directive" => directive, "blocked-uri" => blocked, "disposition" => "enforce", **more}}
  end

  # @return [String] a line of the collector, with its end
  def line(at_s: NOON_S, user_agent: CHROME, **report)
    JSON.generate({"time" => Time.at(at_s).utc.iso8601(3), "report" => csp_report(**report), "user_agent" => user_agent}) << "\n"
  end
end

# For tests that count into a database of their own.
class CspStoreTest < TunerTest
  def setup
    skip "the lab's gems are not there: run bin/setup --test" unless CspLab.sqlite?
    @folder = Dir.mktmpdir("csp_collector")
    @database = File.join(@folder, "reports.sqlite3")
    @lines = File.join(@folder, "reports.jsonl")
  end

  def teardown = @folder && FileUtils.rm_rf(@folder)

  def line(...) = CspLab.line(...)

  def write(*lines, path: @lines) = File.write(path, lines.join, mode: "a")

  # @return [Hash] tallies
  def count(path = @lines, fold_ids: false, siblings: true, **options)
    store = CspCollector::Store.new(@database, **options)
    aggregator = CspCollector::Aggregator.new(store, CspCollector::LineReader.new(fold_ids:))
    aggregator.catch_up(CspCollector::Source.new(path, siblings:))
    @waiting_bytes = aggregator.waiting_bytes
    store.tallies
  ensure
    store&.close
  end

  # @return [CspCollector::Statistics::Violations]
  def violations(now_s: CspLab::NOON_S + 60, **filter)
    CspCollector::Statistics.open(@database, clock: -> { Time.at(now_s) }) { |statistics| statistics.violations(CspCollector::Filter.new(range: "all", **filter)) }
  end

  # @return [Integer] of all violations
  def reports_count(**filter) = violations(noise: "show", **filter).reports_count
end
