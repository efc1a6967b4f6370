# frozen_string_literal: true

require "test_helper"
require "tmpdir"
require "support/command_line"

# `puma_tuner prove` with an open loop, by itself: a generator that is late by more than a twentieth of the median latency voids a round, and
# beside other tests it is late by tens of milliseconds.
class ProveOpenLoopTest < TunerTest
  include CommandLine

  timed!
  time_limit 300

  APP = File.expand_path("../fixtures/prove/config.ru", __dir__)

  test "an open loop, and looks at which it may be decided" do
    tries { Dir.mktmpdir("puma_tuner-test") { |folder| assert_decided(folder) } }
  end

  def assert_decided(folder)
    variants = {"quick" => 150, "slow" => 300}.flat_map { |name, ms| ["--variant", "#{name}:topology=1x16,env.PROVE_SLEEP_MS=#{ms}"] }
    result = puma_tuner("prove", APP, *variants, "--rate", "20", "--looks", "7,9", "--primary", "p50", "--duration", "0.4", "--turns", "1", "--warmup-window", "0.15",
      "--warmup-limit", "0.3", "--connections", "50", "--probe-duration", "0", "--noise-rounds", "0", "--busy-machine", "--output", "verdict.json", folder:)
    assert_equal 0, result.code, result.err
    verdict = PumaTuner::Document.read(File.join(folder, "verdict.json"), :verdict)
    assert_match(/primary metric was decided, after 7 rounds/, in_words(verdict.stopped_because))
    assert_match(/poisson/, verdict.load.arrivals)
  end
end
