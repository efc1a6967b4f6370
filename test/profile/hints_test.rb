# frozen_string_literal: true

require "test_helper"
require "json"
require "support/profiles"

class ProfileHintsTest < TunerTest
  include Profiles

  def hint(rule, costs) = Profile::Hints.of(costs).find { |one| one.rule == rule }

  def fields = {"Field#resolve" => 1_748, "FieldResult#initialize" => 1_748, "Field#ensure_defined" => 8_740, "Chain#call" => 3_496, "Type#name" => 1_748, "Query#run" => 1}

  test "methods called once for each element are found, and those called several times for each" do
    found = hint("called_per_element", traced(fields))
    assert_match(/3 methods are called exactly 1748 times/, found.title)
    assert_match(/Field#ensure_defined 5 times/, found.evidence)
  end

  test "no number of calls that is shared by few makes elements" do
    assert_nil hint("called_per_element", traced({"A#a" => 500, "B#b" => 500, "C#c" => 499}))
    assert_nil hint("called_per_element", traced({"A#a" => 50, "B#b" => 50, "C#c" => 50}))
  end

  test "where nobody counted requests, no number of calls is one of a request" do
    counted = traced({**fields, "Thread::Mutex#synchronize" => 44_528})
    refute_empty Profile::Hints.of(counted)
    assert_empty Profile::Hints.of(counted.with(work_count: nil)).map(&:rule) & %w[called_per_element lock_per_call object_per_element]
  end

  test "a profiler that samples knows no calls" do
    assert_empty Profile::Hints.of(costs(samples({"A#a" => 1_000_000}))).map(&:rule) & %w[called_per_element lock_per_call falsy_cache]
  end

  test "locks taken by the hundred are told with who takes them" do
    found = hint("lock_per_call", traced({"Thread::Mutex#synchronize" => 44_528}, callers: {"Thread::Mutex#synchronize" => {"Map#compute_if_absent" => 44_528}}))
    assert_match(/called 44528 times/, found.title)
    assert_match(/Map#compute_if_absent \(44528 times\)/, found.evidence)
    assert_nil hint("lock_per_call", traced({"Thread::Mutex#synchronize" => 99}))
  end

  test "a look-up that locks at each call is a falsy cache, one that locks seldom is none" do
    locks = {"Mutex#synchronize" => {"Concurrent::Map#compute_if_absent" => 44_528}}
    found = hint("falsy_cache", traced({"Concurrent::Map#compute_if_absent" => 44_528, "Mutex#synchronize" => 44_528}, callers: locks))
    assert_match(/takes a lock in 100% of its calls/, found.title)
    seldom = {"Mutex#synchronize" => {"Concurrent::Map#compute_if_absent" => 40}}
    assert_nil hint("falsy_cache", traced({"Concurrent::Map#compute_if_absent" => 44_528, "Mutex#synchronize" => 40}, callers: seldom))
  end

  test "an object made for each element is told by its initialize" do
    assert_match(/FieldResult 1748 times/, hint("object_per_element", traced(fields)).evidence)
  end

  test "objects made by the thousand are told where elements are unknown" do
    site = Profile::Allocation.new(class_name: "Hash", path: "/app/a.rb", line: 3, objects_count: 200_000, bytes: nil, retained_objects_count: nil, retained_bytes: nil)
    assert_match(/Hash 2000 times/, hint("object_per_element", costs(samples(list: [], allocations: [site]))).evidence)
    assert_nil hint("object_per_element", costs(samples(list: [], allocations: [site.with(objects_count: 90_000)])))
  end

  test "blocks that are made into objects are told by line" do
    site = Profile::Allocation.new(class_name: "Proc", path: "/app/a.rb", line: 3, objects_count: 30_000, bytes: nil, retained_objects_count: nil, retained_bytes: nil)
    assert_match(%r{/app/a\.rb:3 \(300\)}, hint("procs_of_blocks", costs(samples(list: [], allocations: [site]))).evidence)
    assert_nil hint("procs_of_blocks", costs(samples(list: [], allocations: [site.with(objects_count: 9_000)])))
  end

  # @return [Profile::Costs] of one request, in which Warden#visible? was called with so few different inputs
  def asked(calls:, repeated:, total: 900, works: calls, requests: 1)
    costs = traced({"Warden#visible?" => calls, "Schema#find" => works, "App#call" => 1}, callers: {"Schema#find" => {"Warden#visible?" => works}}, selves: {"Warden#visible?" => total, "App#call" => 1_000 - total})
    methods = costs.methods.map { |method| (method.name == "Warden#visible?") ? method.with(repeated_count: repeated, total_amount: total) : method }
    costs.with(methods:, work_count: requests)
  end

  test "repeated_work is told where inputs repeat within a request, and work is done for them" do
    found = hint("repeated_work", asked(calls: 2_815, repeated: 2_700))
    assert_match(/Warden#visible\? does its work again for equal inputs, 2700 times in one request/, found.title)
    assert_in_delta 0.9 * 2_700 / 2_815, found.share_ratio
    assert_nil hint("repeated_work", asked(calls: 2_815, repeated: nil)), "nobody looked at inputs"
    assert_nil hint("repeated_work", asked(calls: 2_815, repeated: 1_000)), "most inputs differ"
    assert_nil hint("repeated_work", asked(calls: 100, repeated: 99)), "too few"
    assert_nil hint("repeated_work", asked(calls: 2_815, repeated: 2_700, total: 15)), "too little time"
    assert_nil hint("repeated_work", asked(calls: 2_815, repeated: 2_700, works: 115)), "kept: others are called for new inputs only"
    assert_nil hint("repeated_work", asked(calls: 2_000, repeated: 1_900, requests: 20)), "once in each of twenty requests"
  end

  test "JSON below anything is summed once, from three percent on" do
    found = hint("json_share", costs(samples({"App#call > JSON.generate > JSON::State#generate" => 80, "App#call" => 920})))
    assert_in_delta 0.08, found.share_ratio
    assert_nil hint("json_share", costs(samples({"App#call > JSON.generate" => 20, "App#call" => 980})))
  end

  # @param below [Hash{String => Integer}] what is below `to_json`, and how long it takes, of 1,000 in all
  def json_of_records(below)
    own = {"Relation#load" => "/usr/lib/ruby/gems/3.4.0/gems/activerecord-8.0.1/lib/active_record/relation.rb"}
    list = below.map { |path, amount| stack("App#call > Array#to_json > #{path}", amount, own:) }
    hint("json_share", costs(samples(list: [*list, stack("App#call", 1_000 - below.values.sum)])))
  end

  test "records that are loaded only while they are written as JSON are none of its work, and JSON below them is" do
    found = json_of_records("Relation#load > PG::Connection#exec_params" => 400, "Relation#load" => 200, "PG::Result#values" => 100, "JSON.generate" => 50)
    assert_in_delta 0.05, found.share_ratio
    assert_match(/Array#to_json/, found.evidence)
    assert_nil json_of_records("Relation#load > PG::Connection#exec_params" => 600, "JSON.generate" => 20)
    assert_in_delta 0.04, json_of_records("Relation#load" => 500, "Relation#load > Json#deserialize > JSON.parse" => 40).share_ratio
  end

  test "the session's own methods count, not the app below its middleware" do
    path = {"Session#call" => "/gems/rack-session-2.1.1/lib/rack/session/cookie.rb", "Cookie#encode" => "/gems/rack-session-2.1.1/lib/rack/session/cookie.rb"}
    list = [stack("Session#call > App#call", 900, own: path), stack("Session#call > Cookie#encode", 60, own: path), stack("Session#call", 40, own: path)]
    assert_in_delta 0.1, hint("session_share", costs(samples(list:))).share_ratio
  end

  test "a database's client is told of CPU only" do
    stacks = {"App#call > Trilogy#query" => 300, "App#call" => 700}
    assert_nil hint("database_client_share", costs(samples(stacks)))
    assert_in_delta 0.3, hint("database_client_share", costs(samples(stacks), mode: "cpu")).share_ratio
  end

  # @param client [String] a method of it
  def client_hint(client, gems: {})
    hint("database_client_share", costs(samples({"App#call > #{client}" => 300, "App#call" => 700}), mode: "cpu", gems:))
  end

  test "a database's client is named with its version, and nobody is told to try what does not apply" do
    sqlite = client_hint("SQLite3::Statement#step", gems: {"sqlite3" => "2.9.0", "sequel" => "5.90"})
    assert_match(/sqlite3 2\.9\.0/, sqlite.title)
    refute_match(/Trilogy|trilogy|pluck/, sqlite.cure + sqlite.proof)
    refute_match(/Trilogy in its place/, client_hint("Trilogy#query").cure)
    refute_match(/Trilogy/, client_hint("PG::Result#values").cure)
    mysql = client_hint("Mysql2::Result#each", gems: {"mysql2" => "0.5.6", "activerecord" => "8.1.4"})
    assert_match(/Trilogy in its place/, mysql.cure)
    assert_match(/pluck/, mysql.cure)
    assert_match(/trilogy\.ru/, mysql.proof)
  end

  test "a newer json is told of only where an older one is loaded, or nobody knows" do
    found = ->(gems) { hint("json_share", costs(samples({"App#call > JSON.generate" => 80, "App#call" => 920}), gems:)) }
    assert_match(/newest json gem/, found.call({}).cure)
    assert_match(/newest json gem/, found.call({"json" => "2.9.1"}).cure)
    newer = found.call({"json" => "3.1.0"})
    assert_match(/json 3\.1\.0/, newer.title)
    refute_match(/newest/, newer.cure + newer.proof)
  end

  test "every file of hints/ is asked, and has a test here" do
    names = Dir[File.expand_path("../../lib/puma_tuner/profile/hints/*.rb", __dir__)].map { |path| File.basename(path, ".rb") } - %w[share]
    assert_equal names.sort, Profile::Hints::RULES.map { |rule| rule.name[/\w+\z/].gsub(/\B[A-Z]/) { |letter| "_#{letter}" }.downcase }.sort
    text = File.read(__FILE__)
    names.each { |name| assert_includes text, name }
  end
end
