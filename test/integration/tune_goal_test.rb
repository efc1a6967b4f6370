# frozen_string_literal: true

require "test_helper"
require "support/served_app"
require "support/command_line"

# `puma_tuner tune` with a goal, by itself: its proof sends at a rate, and a generator that other tests make late voids its rounds.
class TuneGoalTest < TunerTest
  include CommandLine

  timed!
  time_limit 300

  WORDS = %w[--duration 1.5 --warmup 0.3 --connections 4 --threads 1..3 --workers 1..2 --today 1x1 --path /sleep --no-calibrate --settings none
    --html report.html --output tuning.json --rounds 6 --at 60/s --trial-duration 0.5 --memory 4GiB --db-connections 50].freeze

  # A request of /sleep takes 10 ms, of which next to nothing is CPU.
  test "with a goal and a rate the cheapest setting that meets it is recommended, and proven at that rate" do
    tries { ServedApp.open { |app| assert_recommended_and_proven(app) } }
  end

  def assert_recommended_and_proven(app)
    environment = {"XDG_STATE_HOME" => File.join(app.folder, "state")}
    result = puma_tuner("tune", "config.ru", *WORDS, "--slo", "85% < 500ms", folder: app.folder, environment:)
    assert_equal 0, result.code, result.err
    tuning = PumaTuner::Document.read(File.join(app.folder, "tuning.json"), :tuning)
    assert_match(%r{What the goal takes\n +goal +85% < 500 ms, with 60\.0/s}, PumaTuner::Report.render(tuning, format: :text, verbose: true))
    assert_equal [60.0, 1], [tuning.advice_list.sizing.arrivals.rate_per_s, tuning.advice_list.sizing.machines_count]
    assert_equal [true], tuning.verdict.expectations.map(&:shown), tuning.verdict.expectations.inspect
    assert_equal "p85", tuning.verdict.primary
    assert_match(/60/, tuning.verdict.load.arrivals)
    assert_empty processes_in(app.folder)
  end
end
