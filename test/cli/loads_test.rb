# frozen_string_literal: true

require "test_helper"
require "support/builders"
require "tmpdir"

class LoadsTest < TunerTest
  include Builders

  def recorded_closed = workload(connections_count: 20, think_ms: 5).with(observed_throughput_per_s: 80.0)

  def recorded_open = workload.with(arrivals: Model::Arrivals.open(60, reuse_count: 9))

  # As the command line understands them.
  def loads_of(workload, **words)
    options = CLI::Commands::Predict.parse(["observation.json", *words.flat_map { |name, text| ["--#{name}", text] }])
    CLI::Loads.new(workload, **options.slice(*CLI::Loads::OPTIONS))
  end

  def loads(of: recorded_closed, **words) = loads_of(of, **words).to_a

  def mistake(of: recorded_closed, **words) = assert_raises(UsageError) { loads(of:, **words) }.message

  def file(*lines)
    Dir.mktmpdir do |folder|
      path = File.join(folder, "times.txt")
      File.write(path, lines.join("\n"))
      yield path
    end
  end

  test "the recording's load is taken when none is given" do
    assert_equal [Model::Arrivals.closed(20, think_ns: 5 * MS)], loads
    refute_predicate CLI::Loads.new(recorded_closed), :said?
  end

  test "rates make open loops" do
    assert_equal [50.0, 100.5].map { |rate| Model::Arrivals.open(rate) }, loads(rate: "100.5,50")
    assert_equal [Model::Arrivals.open(50, kind: "even", connections_count: 30)], loads(rate: "50", arrivals: "even", connections: "30")
    assert_equal [Model::Arrivals.open(50, kind: "bursty", burst_count: 4)], loads(rate: "50", arrivals: "bursty:4")
    assert_equal [Model::Arrivals.open(60, kind: "even", reuse_count: 9)], loads(of: recorded_open, arrivals: "even")
  end

  test "connections are closed loops, with the recording's think time unless another is given" do
    assert_equal [5, 6, 7].map { |count| Model::Arrivals.closed(count, think_ns: 5 * MS) }, loads(connections: "5..7")
    assert_equal [Model::Arrivals.closed(20, think_ns: 250 * MS)], loads(think: "0.25")
    assert_equal [Model::Arrivals.closed(3, reuse_count: 9)], loads(of: recorded_open, connections: "3")
  end

  test "times out of a file are replayed, as they were or at a rate" do
    file("# from the log", "17.5", "", "17.25", "18.5") do |path|
      assert_equal [0, 250 * MS, 1_250 * MS], loads(arrivals: "replay:#{path}").first.times_ns
      slower = loads(arrivals: "replay:#{path}", rate: "1").first
      assert_equal ["replayed", 1.0], [slower.kind, slower.rate_per_s.round(6)]
    end
  end

  test "of more times than a replay takes no more are read than show it" do
    file(*0..19_999) { |path| assert_equal 20_000, loads(arrivals: "replay:#{path}").first.times_ns.size }
    file(*0..20_000, "soon") { |path| assert_match(/holds more times; a replay takes 2 to 20000, not all the same/, mistake(arrivals: "replay:#{path}")) }
  end

  test "a file of times that can't be replayed is a mistake, with its line" do
    file("0", "soon") { |path| assert_match(/times\.txt, line 2: "soon" is not a time/, mistake(arrivals: "replay:#{path}")) }
    file("0", "1/0") { |path| assert_match(/line 2/, mistake(arrivals: "replay:#{path}")) }
    file("1", "1") { |path| assert_match(/not all the same/, mistake(arrivals: "replay:#{path}")) }
    file("1") { |path| assert_match(/holds 1 time;/, mistake(arrivals: "replay:#{path}")) }
    file(*("a".."c"), "1" * 70_000) { |path| assert_match(/line 1: "a" is not a time/, mistake(arrivals: "replay:#{path}")) }
    file("# x", "1" * 70_000) { |path| assert_match(/line 2: it is longer than any time in seconds/, mistake(arrivals: "replay:#{path}")) }
    assert_match(/line 1: it is longer than any time/, mistake(arrivals: "replay:/dev/zero"))
    assert_match(/nowhere.*one time in seconds per line/m, mistake(arrivals: "replay:/nowhere/at/all"))
  end

  test "words that can't be, or don't go together, are mistakes" do
    {
      {rate: "0"} => /--rate 0: .*from 0\.001 to 200000/, {rate: "1e-300"} => /from 0\.001/, {rate: "many"} => /--rate many/, {rate: "-5"} => /--rate -5/, {connections: "0"} => /--connections 0/,
      {think: "-1"} => /--think -1/, {rate: "5", think: "1"} => /leave one out/, {rate: "5", connections: "1,2"} => /one number/, {arrivals: "poisson"} => /at which rate/,
      {rate: "5", arrivals: "bursty:1"} => /bursty:N/, {rate: "5", arrivals: "bursty"} => /bursty:N/, {rate: "5", arrivals: "weibull"} => /--arrivals weibull: write poisson/
    }.each { |words, pattern| assert_match(pattern, mistake(**words), words.inspect) }
    assert_match(/of how many clients/, mistake(of: recorded_open, think: "1"))
  end

  test "a capacity is a rate, searched from what was observed, unless connections are asked for" do
    to_search = ->(**words) { loads_of(recorded_closed, **words).to_search }
    assert_equal Model::Arrivals.open(80), to_search.call
    assert_equal Model::Arrivals.open(10), to_search.call(rate: "10")
    assert_equal 7, to_search.call(connections: "7").connections_count
    assert_equal recorded_open.arrivals, CLI::Loads.new(recorded_open).to_search
    assert_match(/give one --rate/, assert_raises(UsageError) { to_search.call(rate: "10,20") }.message)
  end
end
