# frozen_string_literal: true

require "test_helper"
require "json"
require "support/builders"
require "support/encodings"
require "tmpdir"

class TrackRecordTest < TunerTest
  include Builders
  include Encodings

  def setup
    @folder = Dir.mktmpdir("puma_tuner-test")
    @path = File.join(@folder, "state", "forecasts.json")
    @said = []
  end

  def teardown = FileUtils.rm_rf(@folder)

  def record(path = @path) = Predict::TrackRecord.new(path, say: ->(text) { @said << text }, clock: -> { Time.utc(2026, 1, 2, 3, 4, 5) })

  def check(measured, forecast: 100.0, metric: "throughput") = Predict::Check.of(scenario("1x5"), metric, estimate(forecast), estimate(measured))

  test "there is no past error without checks" do
    assert_nil record.past_error("shop")
    record.add("shop", [])
    refute_path_exists @path
  end

  test "the typical miss by metric is the root mean square of the log ratios" do
    record.add("shop", [check(110.0), check(50.0, forecast: 40.0, metric: "p99")], machine_key: "m")
    record.add("shop", [check(90.0)])
    past = record.past_error("shop")
    assert_in_delta Math.sqrt((Math.log(1.1)**2 + Math.log(0.9)**2) / 2), past["throughput"], 1e-12
    assert_in_delta Math.log(1.25), past["p99"], 1e-12
    assert_equal [2, 2, 1], past.values_at(*%w[checks_count throughput_checks_count p99_checks_count])
    assert_nil record.past_error("blog")
    assert_empty @said
  end

  test "a check is kept with what it was made of" do
    record.add("shop", [check(110.0)], machine_key: "2 cores")
    kept = JSON.parse(File.read(@path)).fetch("apps").fetch("shop")
    expected = {"metric" => "throughput", "log_ratio" => Math.log(1.1), "scenario" => scenario("1x5").to_s,
                "machine" => "2 cores", "date" => "2026-01-02T03:04:05Z"}
    assert_equal [expected], kept
    assert_equal %w[forecasts.json forecasts.json.lock], Dir.children(File.dirname(@path)).sort
  end

  test "the last two hundred checks of each app count" do
    record.add("shop", [check(200.0)] * 50)
    record.add("shop", [check(100.0)] * 200)
    assert_equal({"throughput" => 0.0, "throughput_checks_count" => 200, "checks_count" => 200}, record.past_error("shop"))
  end

  test "runs that end at once all count" do
    threads = Array.new(8) { Thread.new { record.add("shop", [check(110.0)]) } }
    threads.each(&:join)
    assert_equal 8, record.past_error("shop")["checks_count"]
  end

  test "a damaged file is put aside, and the record begins anew" do
    FileUtils.mkdir_p(File.dirname(@path))
    ['{"schema_ver', "[]", '{"schema_version":9,"apps":{}}', '{"schema_version":1,"apps":{"shop":[{"metric":"p99"}]}}'].each do |content|
      File.write(@path, content)
      assert_nil record.past_error("shop")
      assert_match(/begins anew/, @said.pop)
      assert_equal content, File.read("#{@path}.20260102030405.unread")
      record.add("shop", [check(110.0)])
      assert_equal 1, record.past_error("shop")["checks_count"]
    end
  end

  test "names in any letters are read and kept, whatever encoding files have for the process" do
    record.add(NAME, [check(110.0)], endpoint_names: [NAME])
    script = <<~RUBY
      require "puma_tuner"
      record = PumaTuner::Predict::TrackRecord.new(ARGV[0])
      record.add("other", [PumaTuner::Predict::Check.from_document(JSON.parse(ARGV[1]))])
      p record.past_error(NAME)["checks_count"], record.past_error_by_endpoints({NAME => 1})["checks_count"]
    RUBY
    assert_equal ["1\n1"], in_each_encoding(script, @path, JSON.generate(check(110.0).to_document)).uniq
    assert_equal [1, 3], [NAME, "other"].map { |app| record.past_error(app)["checks_count"] }
  end

  test "a place that can't be written to costs a warning" do
    blocked = File.join(@folder, "file")
    File.write(blocked, "")
    record(File.join(blocked, "forecasts.json")).add("shop", [check(110.0)])
    assert_match(/can't be saved/, @said.first)
    assert_nil record(File.join(blocked, "forecasts.json")).past_error("shop")
  end

  test "a check tells how far off the forecast was, and whether the intervals meet" do
    close = Predict::Check.of(scenario("1x5"), "p50", estimate(100.0, 0.05), estimate(108.0, 0.05))
    assert_equal [true, -0.0741], [close.inside, close.error_ratio.round(4)]
    refute Predict::Check.of(scenario("1x5"), "p50", estimate(100.0), estimate(108.0)).inside
    assert_in_delta Math.log(1.08), close.log_ratio
  end

  test "checks are of the metrics that both sides know, and of steady forecasts" do
    made = forecast("1x5", 100.0)
    seen = {"throughput" => estimate(90.0), "p99" => estimate(90.0 * MS), "boot" => estimate(1.0)}
    assert_equal %w[throughput p99], Predict::Check.all(made, seen).map(&:metric)
    assert_empty Predict::Check.all(made.with(unsteady: "too much"), {"throughput" => estimate(90.0)})
    assert_empty Predict::Check.all(made, {"throughput" => estimate(0.0)})
  end

  test "of an open loop the throughput is no check, as it is the load's own rate" do
    seen = {"throughput" => estimate(100.0), "p99" => estimate(90.0 * MS)}
    assert_equal %w[p99], Predict::Check.all(forecast("1x5", 100.0, arrivals: Model::Arrivals.open(100)), seen).map(&:metric)
  end

  # @return [String]
  def key(endpoint_names, command: "puma", folder: "shop", environment: "production")
    server = observation.server.with(rack_environment: environment)
    Predict::TrackRecord.app_key(observation.with(command:, folder:, server:), endpoint_names)
  end

  test "apps are told apart by their command, their endpoints and their environment" do
    assert_equal key(%w[a b]), key(%w[b a])
    refute_equal key(%w[a b]), key(%w[a b], command: "puma -t 5")
    refute_equal key(%w[a b]), key(%w[a])
    refute_equal key(%w[a b]), key(%w[a b], environment: "development")
  end

  test "one endpoint, as any app has it, is told apart by the app's folder, too, and several are an app in any folder" do
    refute_equal key(%w[/]), key(%w[/], folder: "blog")
    assert_equal key(%w[/ /login]), key(%w[/ /login], folder: "shop-2")
  end

  test "the place is the user's state folder" do
    before = ENV.fetch("XDG_STATE_HOME", nil)
    ENV["XDG_STATE_HOME"] = "/somewhere"
    assert_equal "/somewhere/puma_tuner/forecasts.json", Predict::TrackRecord.default_path
    ENV["XDG_STATE_HOME"] = ""
    assert_equal File.join(Dir.home, ".local/state/puma_tuner/forecasts.json"), Predict::TrackRecord.default_path
  ensure
    ENV["XDG_STATE_HOME"] = before
  end
end
