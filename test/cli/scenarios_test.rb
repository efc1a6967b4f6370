# frozen_string_literal: true

require "test_helper"
require "support/builders"

class ScenariosTest < TunerTest
  include Builders

  # As the command line understands them.
  def scenarios(*texts, of: workload, loads: [Model::Arrivals.closed(10)], **words)
    options = CLI::Commands::Predict.parse(["observation.json", *words.flat_map { |name, text| ["--#{name.to_s.tr("_", "-")}", text] }])
    CLI::Scenarios.new(of, **options.slice(*CLI::Scenarios::OPTIONS)).of(texts.map { |text| topology(text) }, loads)
  end

  def mistake(...) = assert_raises(UsageError) { scenarios(...) }.message

  test "the topologies with Puma's defaults are taken when none are given" do
    assert_equal [scenario("1x5"), scenario("2x3")], scenarios("1x5", "2x3")
  end

  test "options of the recorded Puma are taken where no others are given" do
    recorded = workload.with(queue_requests: false, io_threads_count: 2)
    assert_equal [scenario("1x5", queue_requests: false, io_threads_count: 2)], scenarios("1x5", of: recorded)
    assert_equal [scenario("1x5", queue_requests: false)], scenarios("1x5", of: recorded, io_threads: "0")
    assert_equal 1, scenarios("1x5", of: recorded.with(puma_version: "7.2.0")).size, "which has none"
  end

  test "every combination is a scenario" do
    made = scenarios("1x2", "1x5", io_threads: "0,2", timeslice: "100,10", loads: [Model::Arrivals.open(50), Model::Arrivals.open(100)])
    assert_equal [16, 16], [made.size, made.uniq.size]
    assert_includes made, scenario("1x5", Model::Arrivals.open(100), io_threads_count: 2, timeslice_ms: 10)
  end

  test "a minimum of threads holds where there are as many" do
    assert_equal [["1x2", 0], ["1x5", 0], ["1x5", 3]], scenarios("1x2", "1x5", min_threads: "0,3").map { |made| [made.topology.to_s, made.min_threads_count] }
    assert_match(/--min-threads 9: no topology has that many threads \(the most is 5\)/, mistake("1x2", "1x5", min_threads: "9"))
  end

  test "settings that a version does not have are mistakes, unless another version is assumed" do
    assert_match(/--io-threads needs Puma 8\.0 or newer, and the recording is of Puma 7\.2\.0.*--what-if puma=8\.0/, mistake("1x2", of: workload.with(puma_version: "7.2.0"), io_threads: "2"))
    assert_match(/--timeslice needs Ruby 3\.4.*Ruby 3\.3\.8/, mistake("1x2", of: workload(ruby_version: "3.3.8"), timeslice: "10"))
    assert_equal 1, scenarios("1x2", of: workload.with(puma_version: "7.2.0"), io_threads: "0").size
    assert_equal 1, scenarios("1x2", of: workload(ruby_version: "4.0.1"), timeslice: "10").size
    assert_equal 1, scenarios("1x2", of: workload.with(puma_version: nil), io_threads: "1").size
  end

  test "numbers that can't be, and grids that never end, are mistakes" do
    assert_match(/--io-threads -1/, mistake("1x2", io_threads: "-1"))
    assert_match(/--timeslice 0: .*from 1 to 60000/, mistake("1x2", timeslice: "0"))
    assert_match(/that is 60,000 scenarios, and 5,000 are the most/, mistake("1x2", timeslice: "1..60000"))
  end
end
