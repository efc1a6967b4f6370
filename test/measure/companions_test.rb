# frozen_string_literal: true

require "test_helper"
require "json"
require "support/builders"

class CompanionsTest < TunerTest
  include Builders

  Companions = PumaTuner::Measure::Companions

  def settings(today, workers: [1, 2, 3, 4]) = Companions.of(topology(today), workers).map(&:to_s)

  test "companions of one process have one thread, two workers, and two workers of one thread" do
    assert_equal %w[1x1 2x5 2x1], settings("1x5")
    assert_equal %w[2x1], settings("1x1")
  end

  test "companions of a cluster have one thread in as many workers, and one process" do
    assert_equal %w[3x1 1x5], settings("3x5")
    assert_equal %w[1x1], settings("2x1")
  end

  test "where no other number of workers will be predicted, none is recorded" do
    assert_equal %w[1x1], settings("1x5", workers: [1])
    assert_equal %w[3x1], settings("3x5", workers: [3])
    assert_empty settings("1x1", workers: [1])
  end

  test "an app that collects much garbage is recorded with more numbers of threads, too" do
    collecting = ->(today, workers: [1, 2], gc_ratio: 0.3) { Companions.of(topology(today), workers, gc_ratio:).map(&:to_s) }
    assert_equal %w[2x1 2x5 2x8], collecting.call("1x1")
    assert_equal %w[2x1 1x3 2x5 2x8], collecting.call("2x3")
    assert_equal %w[1x1 1x5 1x8], collecting.call("1x3", workers: [1])
    assert_equal %w[1x1 2x16 2x1 2x5 2x8], collecting.call("1x16")
    assert_equal settings("2x8") + %w[2x5], collecting.call("2x8")
    assert_equal settings("2x3"), collecting.call("2x3", gc_ratio: 0.1)
  end

  def recorded(text, names: ["GET /", "GET /rare"], counts: [95, 5], **others)
    observation(topology: topology(text), endpoints: names.zip(counts).map { |name, requests_count| endpoint_observation(name:, requests_count:) }).with(**others)
  end

  test "recordings of one app are joined, with those that they brought" do
    today = recorded("1x5").with(companions: [recorded("1x1")])
    joined = Companions.join(today, [recorded("2x5").with(companions: [recorded("2x1", names: ["GET /"])])])
    assert_equal %w[1x1 2x5 2x1], joined.companions.map { |companion| companion.topology.to_s }
    assert(joined.companions.all? { |companion| companion.companions.empty? })
    assert_equal today.with(companions: []), joined.with(companions: [])
  end

  test "recordings of another app, of other requests or at the same settings are refused" do
    refused = ->(other) { assert_raises(PumaTuner::UsageError) { Companions.join(recorded("1x5"), [other]) }.message }
    assert_match(/two commands, "bundle exec puma" and "rails server"/, refused.call(recorded("1x1", command: "rails server")))
    assert_match(/differ in their requests: GET \/other is in one of them only/, refused.call(recorded("1x1", names: ["GET /", "GET /other"], counts: [80, 20])))
    assert_match(/two recordings at 1x5/, refused.call(recorded("1x5")))
    assert_match(/does not say how many workers/, refused.call(recorded("1x1", topology: nil)))
  end

  test "an observation keeps its companions in its file, and one of before there were any can be read" do
    today = recorded("1x5").with(companions: [recorded("1x1")].freeze)
    Dir.mktmpdir do |folder|
      path = File.join(folder, "observation.json")
      PumaTuner::Document.write(today, path)
      assert_equal PumaTuner::Document.dump(today), PumaTuner::Document.dump(PumaTuner::Document.read(path, :observation))
      assert_equal topology("1x1"), PumaTuner::Document.read(path, :observation).companions.first.topology
      File.write(path, JSON.generate(JSON.parse(File.read(path)).except("companions")))
      assert_empty PumaTuner::Document.read(path, :observation).companions
    end
  end
end
