# frozen_string_literal: true

require "test_helper"
require "json"
require "tmpdir"
require "support/command_line"
require "support/lane_fixture"

# `puma_tuner lanes` without a server: what it reads, what it writes, and what it says of mistakes.
class LanesCommandTest < TunerTest
  include CommandLine
  include LaneFixture

  # @yieldparam folder [String] with an observation that has lanes at two settings, one without, and a document of lanes
  def in_folder
    Dir.mktmpdir do |folder|
      three = observation(topology: topology("1x3")).with(lanes: [process_lanes])
      {"five.json" => observation.with(lanes: [process_lanes], companions: [three]), "without.json" => observation, "none.json" => observation.with(lanes: []),
       "lanes.json" => lane_comparison}.each { |name, value| PumaTuner::Document.write(value, File.join(folder, name)) }
      yield folder
    end
  end

  test "a recording's other settings and other recordings are shown beside it, in the order in which they are given" do
    in_folder do |folder|
      shown = puma_tuner("lanes", "five.json", "--beside", "lanes.json", "--beside", "five.json", folder:)
      assert_equal 0, shown.code, shown.err
      assert_equal %w[1x5 1x3 1x2 1x5 1x3], shown.out.scan(/^ *(\dx\d): /).flatten
      refute_match(/\e/, shown.out)
    end
  end

  test "a file is written whole, and standard output has nothing then" do
    in_folder do |folder|
      written = puma_tuner("lanes", "five.json", "--format", "perfetto", "--output", "trace.json", folder:)
      assert_equal [0, ""], [written.code, written.out]
      assert_match(%r{^lanes: .*/trace\.json$}, written.err)
      assert_equal 2, JSON.parse(File.read(File.join(folder, "trace.json")))["traceEvents"].count { |event| event["name"] == "process_name" }
    end
  end

  test "mistakes are answered with what to do" do
    in_folder do |folder|
      File.write(File.join(folder, "broken.json"), "{")
      File.write(File.join(folder, "other.json"), PumaTuner::Document.dump(workload))
      odd = JSON.parse(PumaTuner::Document.dump(lane_comparison))
      first = odd.fetch("recordings").first
      File.write(File.join(folder, "no_time.json"), JSON.generate(odd.merge("recordings" => [first.merge("recorded_at" => "yesterday")])))
      first.dig("processes", 0, "lanes", 0, "steps")[1] = 2e11
      File.write(File.join(folder, "minutes.json"), JSON.generate(odd))
      {
        ["without.json"] => /without\.json has no lanes; record them with `puma_tuner measure --lanes`/,
        ["none.json"] => /none\.json has no lanes/,
        ["five.json", "--beside", "without.json"] => /without\.json has no lanes/,
        ["five.json", "--format", "gecko"] => /unknown format "gecko"; choose one of text, html, markdown, json, firefox, perfetto/,
        ["no_time.json", "--format", "firefox"] => /no_time\.json is not a document .*: what it holds does not fit together/,
        ["five.json", "--beside", "minutes.json", "--format", "firefox"] =>
          /five\.json or minutes\.json is not a document .*: a thread's steps last for 200 s/,
        ["five.json", "--output", "nowhere/x.html"] => /cannot write nowhere/,
        ["missing.json"] => /cannot read missing\.json/, ["broken.json"] => /it is not JSON/,
        ["other.json"] => /its kind is "workload", where observation or lanes is needed/, [] => /recording/i
      }.each { |words, message| assert_mistake(message, puma_tuner_in_fork("lanes", *words, folder:)) }
    end
  end

  test "measure has them as an option" do
    help = puma_tuner("measure", "--help")
    assert_match(/--lanes +record for two seconds what each thread does when/, help.out)
  end
end
