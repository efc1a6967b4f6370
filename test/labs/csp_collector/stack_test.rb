# frozen_string_literal: true

require "test_helper"
require "json"
require "open3"
require "tmpdir"
require_relative "../../../labs/02-csp-collector/lab"

# The rungs in which one thing is changed at a time: the stack in either settings, and error pages.
class CspStackTest < TunerTest
  time_limit 180

  LAB = File.expand_path("../../../labs/02-csp-collector", __dir__)
  Labs = PumaTuner::Labs
  Rungs = Labs::CspRungs
  SHORT = {rounds_count: 1, duration_s: 0.3, warmup_limit_s: 0.5, warmup_window_s: 0.15, turns_count: 1, probe_s: 0, busy_machine: true}.freeze
  STACK = <<~RUBY
    require "rack"
    require "json"
    Rack::Builder.parse_file(ARGV.fetch(0))
    puts JSON.generate(Rails.application.middleware.map(&:name))
  RUBY

  # It remembers that it has asked Bundler, which takes half a second.
  def self.bundle = @bundle ||= PumaTuner::Lab::Bundle.of(Rungs::STACK, folder: LAB)

  def setup
    self.class.bundle.ensure_installed
  rescue PumaTuner::UsageError
    skip "gems of the rungs are not there, bin/setup --test installs them: #{self.class.bundle}"
  end

  # @return [Array<String>] middlewares of a variant, as Rails itself tells them
  def stack(factors)
    variables = factors.filter_map { |key, value| [key.delete_prefix("env."), value] if key.start_with?("env.") }.to_h
    environment, words = PumaTuner::Lab::Bundle.of(factors, folder: LAB).ensure_installed
      .around(PumaTuner::Lab::Commands.clean_environment.merge(variables), [Gem.ruby, "-e", STACK, "#{LAB}/#{factors.fetch("app")}"])
    output, status = Open3.capture2e(environment, *words, unsetenv_others: true)
    assert status.success?, output
    JSON.parse(output.lines.last)
  end

  test "production has 13 middlewares, and development the 17 that were removed" do
    production, development = [Rungs::RAILS, Rungs::IN_DEVELOPMENT].map { |name| stack(Rungs::STEP.fetch(name)) }
    assert_equal Rungs::IN_PRODUCTION, production
    assert_equal 17, development.size
    assert_equal Rungs::ONLY_IN_DEVELOPMENT.sort, (development - production).sort
  end

  test "one middleware less is that one, and none are none" do
    name = "Rack::ETag"
    assert_equal Rungs::IN_PRODUCTION - [name], stack(Rungs::EACH_MIDDLEWARE.fetch("without #{name}"))
    [Rungs::NO_MIDDLEWARES, Rungs::NO_MIDDLEWARES_IN_DEVELOPMENT].each { |name| assert_empty stack(Rungs::STEP.fetch(name)) }
  end

  test "the rungs of the step answer 201 with its line in either settings, with the threads that they name" do
    lab = Labs::CspCollector.new
    rungs = Rungs::STEP.slice(Rungs::RAILS, "#{Rungs::NO_MIDDLEWARES}, #{Rungs::TWO_THREADS}", Rungs::IN_DEVELOPMENT)
    verdict = Labs::CspLines.open(lab.send(:reports)) do |lines|
      traffic = Labs::CspTraffic.new(lab.send(:traffic, 1), lines)
      PumaTuner::Lab::Run.new(lab, folder: LAB).served_proof(rungs, traffic:, out: lines.method(:path), allowed: Labs::CspCollector::ALLOWED, **SHORT)
    end
    assert_equal rungs.keys, verdict.cells.map(&:variant)
    assert_equal %w[3 2 3], verdict.cells.map { |cell| cell.fingerprint.fetch([:puma, "max_threads"]).to_s }
    assert_equal %w[production production development], verdict.cells.map { |cell| cell.fingerprint.fetch([:env, "RAILS_ENV"]) }
  end

  test "a load that fails for some and not for others is no rung of error pages" do
    outcome = Struct.new(:statuses, :complaint)
    traffic = Struct.new(:outcome) { def send_to(_url, duration_s:) = outcome }
    page = outcome.new({"500" => 10}, nil)
    assert_same page, Labs::CspErrorTraffic.new(traffic.new(page)).send_to("http://x", duration_s: 1)
    mixed = Labs::CspErrorTraffic.new(traffic.new(outcome.new({"500" => 10, "201" => 1}, nil)))
    assert_match(/500 10 times, 201 1 time/, assert_raises(PumaTuner::InvalidMeasurement) { mixed.send_to("http://x", duration_s: 1) }.message)
  end

  test "the requests of error pages are the ladder's, and may fail" do
    traffic = Labs::CspCollector.new.send(:traffic, 1)
    errors = Labs::CspErrorTraffic.of(traffic)
    assert_equal traffic.mix.requests.map { |request| request.with(expected_statuses: nil) }, errors.mix.requests.map { |request| request.with(expected_statuses: nil) }
    assert_equal [[201, 404, 500]], errors.mix.requests.map(&:expected_statuses).uniq
  end
end
