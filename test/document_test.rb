# frozen_string_literal: true

require "test_helper"
require "json"
require "support/builders"
require "support/encodings"
require "support/tuning_fixture"
require "tmpdir"

class DocumentTest < TunerTest
  include Builders
  include Encodings

  MACHINE = PumaTuner::Model::MachineFit::TYPICAL

  def with_file(text)
    Dir.mktmpdir do |folder|
      path = File.join(folder, "document.json")
      File.write(path, text)
      yield path
    end
  end

  def assert_invalid(text, pattern, *kinds)
    with_file(text) do |path|
      error = assert_raises(InvalidDocument) { Document.read(path, *kinds) }
      assert_match pattern, error.message
      assert_includes error.message, path
    end
  end

  test "a document is read back as it was written, and frozen" do
    with_file(Document.dump(MACHINE)) do |path|
      again = Document.read(path, :machine)
      assert_equal MACHINE, again
      assert_predicate again, :frozen?
    end
  end

  test "files of before locks, background threads and the cost of turns were known are read" do
    added = %w[locks background switch_cpu_ns switch_idle_cpu_ns switch_busy_cpu_ns gvl_rule affinity queue_requests lock_waits]
    older = ->(value) { value.class.from_document(JSON.parse(JSON.generate(value.to_document)).except(*added)) }
    [MACHINE, workload, scenario("2x3"), forecast("2x3", 100)].each { |value| assert_equal value, older.call(value) }
    assert_equal [[], [], nil], older.call(workload).then { |old| [old.locks, old.background, old.switch_cpu_ns] }
    assert_equal [false, true], older.call(scenario("2x3")).then { |old| [old.affinity, old.queue_requests] }
    of_now = workload(kinds_of_locks: ["mutex", 5], switch_cpu_ns: 9, background: [Model::BackgroundDemand.new(name: "metrics", burst_ns: 1, gap_ns: 2)])
    [of_now, scenario("2x3", affinity: true, queue_requests: false)].each { |value| assert_equal value, value.class.from_document(JSON.parse(JSON.generate(value.to_document))) }
  end

  test "a file that is far longer than any document is refused unread, with its limit" do
    with_file("{}") do |path|
      File.truncate(path, 1 << 40)
      [path, "/dev/zero"].each do |long|
        error = assert_raises(InvalidDocument) { Document.read(long) }
        assert_match(/\A#{long} is not a document .*: it has more than 256 MiB, .* is probably another file\. Make it again/, error.message)
      end
    end
  end

  test "symbols are read back as symbols" do
    unknown = Unknown.of(:endpoint, :no_trace, whose: "GET /", requests_count: 3)
    assert_equal unknown, Unknown.from_document(JSON.parse(JSON.generate(unknown.to_document)))
  end

  test "words in older files are read as symbols" do
    comparison = TuningFixture.verdict.comparisons.last
    older = JSON.parse(JSON.generate(comparison.to_document)).merge("outcome" => "not shown")
    assert_equal :not_shown, Prove::Comparison.from_document(older).outcome
  end

  test "time with the GVL is not taken for CPU time in older files" do
    recorded = trace("held", 3, "io", 5, "held", 1, gc_ms: 1)
    older = recorded.to_document.transform_keys(&:name).merge("steps" => recorded.steps.map { |step| (step == "held") ? "cpu" : step }, "cpu_ns" => 4 * MS)
    assert_equal recorded, Probe::Trace.from_document(older)
    assert_equal recorded, Probe::Trace.from_document(recorded.to_document.transform_keys(&:name))
    endpoint = workload.endpoints.first
    older = JSON.parse(JSON.generate(endpoint.to_document)).transform_keys("mean_held_ns" => "mean_cpu_ns")
    assert_equal endpoint, Model::EndpointDemand.from_document(older)
  end

  test "a field that older files have by another name is read" do
    point = Tradeoff::Point.new(**Tradeoff::Point.members.to_h { |member| [member, nil] }, pareto_optimal: true, dominated: false, remarks: [])
    older = point.to_document.transform_keys { |name| {pareto_optimal: "front", dominated: "beaten"}.fetch(name, name.name) }
    assert_equal point, Tradeoff::Point.from_document(older)
    assert_raises(KeyError) { Tradeoff::Point.from_document(older.except("front")) }
  end

  test "what older files say in words of what is not known is read" do
    older = observation.to_document.merge(unknown: {"traces" => "a sample"})
    again = Probe::Observation.from_document(JSON.parse(JSON.generate(older)))
    assert_equal [Unknown.of(:other, :told, whose: "traces", detail: "a sample")], again.unknown
    assert_equal({"traces" => "a sample"}, Report::Unknowns.of(again.unknown))
    assert_equal "it was interrupted", Report::Unknowns.reason(Unknown.from_document("it was interrupted"))
    older = {"field" => "parts", "whose" => nil, "cause" => "unaided", "facts" => {"detail" => "no compiler"}}
    assert_equal Unknown.of(:parts, :no_extension, detail: "no compiler"), Unknown.from_document(older)
  end

  test "every kind is the kind of the value it names" do
    Document::KINDS.each { |kind, name| assert_equal kind, PumaTuner.const_get(name)::KIND.to_s }
  end

  test "a file cut short is named" do
    assert_invalid(Document.dump(MACHINE)[0..-5], /cut short/)
  end

  test "another kind of document is refused by name" do
    assert_invalid(Document.dump(MACHINE), /its kind is "machine", where observation is needed/, :observation)
  end

  test "another schema version is refused" do
    assert_invalid(Document.dump(MACHINE).sub('"schema_version":1', '"schema_version":99'), /schema version is 99/)
  end

  test "of what a file holds, a refusal tells the beginning, however long it is" do
    long = "x" * 1_000_000
    [{kind: long}, {kind: [long]}, {schema_version: long}, {cores_count: long}, {gvl_rule: [long]}].each do |other|
      with_file(JSON.generate({**JSON.parse(Document.dump(MACHINE), symbolize_names: true), **other})) do |path|
        message = assert_raises(InvalidDocument) { Document.read(path) }.message
        assert_match(/x{30,40}…/, message, other.keys)
        assert_operator message.size, :<, 1_000, other.keys
      end
    end
    with_file("") { |path| assert_operator assert_raises(InvalidDocument) { Document.fitting(path) { raise ArgumentError, long } }.message.size, :<, 1_000 }
  end

  test "a byte order mark in front of a document is none of its characters" do
    with_file("\uFEFF#{Document.dump(MACHINE)}") { |path| assert_equal MACHINE, Document.read(path, :machine) }
    assert_invalid("\uFEFF\uFEFF{}", /it is not JSON/)
  end

  test "a missing field is named" do
    assert_invalid(Document.dump(MACHINE).sub('"tick_ns":10080000,', ""), /tick_ns/)
  end

  test "what a caller leaves out, or an older file lacks, is what it usually is" do
    value_class = Document.define(:name, :list, :flag, added: {list: [], flag: true})
    usual = value_class.new(name: "a", list: [], flag: true)
    assert_equal usual, value_class.new(name: "a")
    assert_equal usual, value_class.new(name: "a", list: nil, flag: nil)
    refute_predicate value_class.new(name: "a", flag: false), :flag
    assert_equal [1], value_class.new(name: "a").with(list: [1]).list
    assert_predicate value_class.new(name: "a").list, :frozen?
    assert_raises(ArgumentError) { value_class.new(list: []) }
    older = MACHINE.to_document.transform_keys(&:to_s).except("switch_idle_cpu_ns")
    assert_equal 0, MACHINE.class.from_document(older).switch_idle_cpu_ns
  end

  test "a file that is not there is the user's mistake" do
    assert_raises(UsageError) { Document.read("/nowhere/at/all.json") }
  end

  test "of several files that do not fit together any may be wrong, and all are named; what is a mistake already stays that" do
    error = assert_raises(InvalidDocument) { Document.fitting("a.json", "b.json") { Integer("x") } }
    assert_match(/\Aa\.json or b\.json is not a document .* does not fit together \(.*invalid value for Integer/, error.message)
    assert_equal "no", assert_raises(UsageError) { Document.fitting("a.json") { raise UsageError, "no" } }.message
  end

  test "what is no object, or no word where a word is needed, is refused by a check, also of what older files have otherwise" do
    classes = [Advise::Constraints, Predict::Forecast, Model::EndpointDemand, Probe::Budget, Probe::Trace, Probe::Fingerprint]
    classes.product([[], "x", 1.5, true]).each do |value_class, told|
      assert_raises(KeyError, "#{value_class} of #{told}") { value_class.from_document(told) }
    end
    assert_raises(KeyError) { Unknown.from_document(1.5) }
    refused = ->(fields) { assert_raises(KeyError) { Statement.from_document(fields) }.message }
    assert_match(/kind of Statement is 7, which/, refused.call("kind" => 7, "facts" => {}))
    assert_match(/facts of Statement is \[\], which/, refused.call("kind" => "told", "facts" => []))
  end

  test "a document is read in whatever locale" do
    with_file(Document.dump(MACHINE).sub("{", "{\"note\":\"35 µs, #{NAME}\",")) do |path|
      script = "require 'puma_tuner'; p PumaTuner::Document.read(ARGV.first).class"
      assert_equal ["PumaTuner::Model::Machine"], in_each_encoding(script, path).uniq
    end
  end

  test "a pipe is written to and stays one, and so does a link" do
    Dir.mktmpdir do |folder|
      pipe, link, file = %w[pipe link file].map { |name| File.join(folder, name) }
      File.mkfifo(pipe)
      read = Thread.new { File.read(pipe) }
      Document.write(MACHINE, pipe)
      assert_equal Document.dump(MACHINE), read.value
      assert File.pipe?(pipe)
      File.write(file, "")
      File.symlink(file, link)
      Document.write(MACHINE, link)
      assert File.symlink?(link)
      assert_equal MACHINE, Document.read(file)
    end
  end

  test "writing where nothing can be written says so" do
    assert_match(/Give another place/, assert_raises(UsageError) { Document.write(MACHINE, "/nowhere/at/all.json") }.message)
  end
end
