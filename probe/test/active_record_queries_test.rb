# frozen_string_literal: true

require "test_helper"

# Counted by a stand-in for Rails' notifications; test/integration/advice_test.rb has the real ones.
class ActiveRecordQueriesTest < TunerTest
  Queries = PumaTuner::Probe::ActiveRecordQueries

  Client = Struct.new(:env)

  # In the place of a recorder, which need not know.
  class Recorder
    def initialize = @endpoint = Struct.new(:to_s) { def name(env) = env.fetch("PATH_INFO") }.new

    def begin(_client) = true

    def finish(_client) = nil
  end

  def setup
    @recorder = Recorder.new.extend(Queries::Counting)
  end

  # @param names [Array<String>] of queries in one request, each in a thread of its own
  def serve(path, *names, cached: false)
    in_request(path) { names.each { |name| Queries::Listener.finish("sql.active_record", "1", {name:, cached:}) } }
  end

  # @param before [#call] what the thread has done already
  def in_request(path = "/a", before: -> {})
    Thread.new {
      before.call
      client = Client.new({"PATH_INFO" => path})
      @recorder.begin(client)
      yield
      @recorder.finish(client)
      sleep
    }.tap { |thread| Thread.pass until thread.stop? }
  end

  def counted(*threads)
    Queries.read
  ensure
    threads.each(&:kill).each(&:join)
  end

  test "queries are counted by endpoint and name, of all threads together" do
    threads = [serve("/a", "Comment Load", "Comment Load", "Post Load"), serve("/a", "Comment Load"), serve("/b", "Post Load")]
    assert_equal({"/a" => {"Comment Load" => 3, "Post Load" => 1}, "/b" => {"Post Load" => 1}}, counted(*threads))
  end

  test "what Rails has in its cache, asks of the schema, or begins and commits is no query of the app's" do
    assert_empty counted(serve("/a", "SCHEMA", "TRANSACTION"), serve("/a", "Post Load", cached: true))
  end

  test "a query that ran on a thread of Active Record's own counts as the request's" do
    thread = in_request { Queries::Listener.publish_event(Struct.new(:payload).new({name: "Post Load"})) }
    assert_equal({"/a" => {"Post Load" => 1}}, counted(thread))
  end

  test "a query without a name counts, and names are few" do
    many = (1..60).map { |number| "Query #{number}" }
    found = counted(serve("/a", nil), serve("/b", *many))
    assert_equal [{"SQL" => 1}, 50], [found["/a"], found["/b"].size]
  end

  test "a request begins with none, whatever its thread did before" do
    left_over = -> { Queries::Listener.finish("sql.active_record", "1", {name: "Left over"}) }
    thread = in_request(before: left_over) { Queries::Listener.finish("sql.active_record", "1", {name: "Own"}) }
    assert_equal({"/a" => {"Own" => 1}}, counted(thread))
  end

  test "a fault of ours reaches neither the query nor the request" do
    thread = nil
    _, err = capture_io do
      thread = Thread.new do
        Queries::Listener.finish("sql.active_record", "1", nil)
        serve_without_path = Client.new({})
        Queries::Listener.finish("sql.active_record", "1", {name: "Post Load"})
        @recorder.finish(serve_without_path)
      end
      thread.join
    end
    assert_match(/could not be counted/, err)
    refute thread.alive?
  end

  test "nothing listens unless the command wants it, and Active Support is there" do
    plain = Recorder.new
    wanted = Queries.wanted
    [false, true].each do |one|
      Queries.wanted = one
      Queries.look(plain)
      refute_kind_of Queries::Counting, plain
    end
  ensure
    Queries.wanted = wanted
  end
end
