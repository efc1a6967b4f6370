# frozen_string_literal: true

require "test_helper"
require "json"
require "support/fuzz/readers"

# What `rake fuzz` has found stays mended: a change to an input that is as it should be, and what comes of it.
class FuzzFoundTest < TunerTest
  READERS = Fuzz::Readers.all.to_h { |reader| [reader.name, reader] }.freeze

  # @param path [Array] of keys and places
  # @return [Proc] of JSON, that has this value there
  def self.set(*path, value)
    lambda do |text|
      tree = JSON.parse(text)
      place = path[0..-2].reduce(tree) { |inner, key| inner.fetch(key) }
      place[path.last] = value
      JSON.generate(tree)
    end
  end

  # @return [Proc] likewise, of the line of that number
  def self.line(number, change) = ->(text) { text.lines.each_with_index.map { |line, place| (place == number) ? "#{change.call(line)}\n" : line }.join }

  LAYOUT = PumaTuner::Probe::Ledger::LAYOUT
  HUGE = [2**63].pack("Q")

  # In a ledger, and in the parts that its input is made of.
  def self.put(offset, bytes) = ->(text) { text.b.tap { |copy| copy[offset, bytes.bytesize] = bytes } }

  FIRST_TRACE = Fuzz::Readers.ledger_parts.take_while { |offset, _| offset < LAYOUT[:traces_offset] }.sum(&:last)
  FIRST_LOCK = FIRST_TRACE + 4 * LAYOUT[:trace_bytes]

  {
    "a number of cores that nobody knows, which was counted up to without end" =>
      ["observation, as a model", set("machine", "cores_count", nil), /cores_count of Probe::MachineFacts is nil, which it can't be/],
    "a step that nobody has heard of" => ["observation, as a model", set("endpoints", 0, "traces", 0, "steps", ["naps", 5]), /a step of the unknown kind "naps"/],
    "an interval surer than sure, whose rounds were searched for without end" => ["document verdict", set("level_ratio", 2**62), /level_ratio of Prove::Verdict is 46\d+, which it can't be/],
    "a list that is null" => ["document observation", set("unknown", nil), /Probe::Observation has no unknown/],
    "a number that is a text" => ["document observation", set("endpoints", 0, "budget", "cpu_ns", "7"), /cpu_ns of Probe::Budget is "7", which it can't be/],
    "a bucket beyond all buckets" => ["document load_outcome", set("latency", "counts", [[10**12, 1]]), /counts of Probe::Histogram/],
    "a proof of nothing" => ["document verdict", set("cells", []), /what it holds does not fit together \(\w.*:\d+: .*our bug, please report it/],
    "bytes that are no text" => ["document machine", ->(text) { text.sub("kind", "k\xFFnd".b) }, /it is not UTF-8 text/],
    "times in another encoding" => ["arrivals", ->(_) { "0.5\n\xFF\n2\n".b }, /line 2: "\?" is not a time/],
    "an instant whose digits no memory holds" => ["arrivals", ->(_) { "1\n1e999999999999\n" }, /line 2: "1e999999999999" is not a time/],
    "an instant after the end of all clocks" => ["arrivals", ->(_) { "1\n1e30\n" }, /line 2: "1e30" is not a time/],
    "a packed log whose first line begins with bytes of no text" => ["access log, packed", ->(_) { Zlib.gzip("\xFFa\n".b) }, /\w/],
    "a proof of no time, which is put aside" => ["record of proofs", set("apps", "app", 0, "measured_at", nil), /was not written by this version/],
    "a packed profile that ends in its head" => ["profile of rperf", ->(_) { "\x1F\x8B\x08\x04".b }, /it is cut short/],
    "a written ledger with an entry of no name" => ["ledger of processes that have ended", set("entries", 0, "name", nil), /another version of puma_tuner writes it/],
    "times after a byte order mark" => ["arrivals", ->(text) { "\xEF\xBB\xBF".b + text.b }, :read],
    "times of a proof that are none" => ["journal of a proof", line(1, set("times", "duration_s", -5)), /duration_s of Prove::TrialRunner::Times is -5, which it can't be/],
    "an end of a proof without a reason" => ["journal of a proof", ->(text) { "#{text}{\"ended\":{\"trials\":[],\"remarks\":[],\"stopped_because\":null}}\n" }, /Ended has no stopped_because/],
    "a length of a response that is no number" =>
      ["answers to a profiled request", ->(text) { text.sub("Content-Length: 2", "Content-Length: abc") }, /responded with what is no HTTP/],
    "a path of a profile with a zero in it" => ["answers to a profiled request", ->(text) { text.sub("PROFILE", "P\0x") }, /which is no path/],
    "a journal whose trial is a number" => ["journal of a proof", line(1, ->(_) { "[7]" }), /was not written by this version/],
    "a journal of more periods than there were seconds since the Big Bang" => ["journal of a trial", line(0, set("plan", "periods_count", 10**18)), /periods_count of Trial::Plan/],
    "a plan without its numbers" => ["journal of a trial", line(0, set("plan", "configured", nil)), /does not fit together/],
    "an end of a trial with a share that is a text" =>
      ["journal of a trial", line(4, set("ended", {"kind" => "memory", "facts" => {"share" => "x"}})), /does not fit together .*our bug, please report it/],
    "a journal of auto whose last time is a text" => ["journal of auto", line(20, set("at_s", "soon")), /does not fit together .*our bug, please report it/],
    "a record of proofs with an entry of another shape, which is put aside" => ["record of proofs", set("apps", "app", 0, "today", {"workers_count" => "x", "threads_count" => 1}), /was not written by this version/],
    "a profile of no samples that has some" => ["profile of stackprof", set("samples", 0), /it counts no samples, and holds some/],
    "a profile with negative amounts" => ["profile of ruby-prof", set("threads", 0, "calls", 1, 4, -5), /an amount in it is no number, less than nothing/],
    "a profile whose sums are lists" => ["profile of memory_profiler", set("allocations", 0, 3, [1]), /an amount in it is no number/],
    "a profile sampled zero times a second" => ["profile of rperf", set("frequency", 0), /it is not what rperf .*divided by 0/],
    "names in a profile that are no text" => ["profile of vernier", ->(text) { text.b.sub("App#call", "App\xFF".b) }, /it is not UTF-8 text/],
    "what perf prints of a symbol that is no text" => ["what perf prints", ->(text) { text.b.sub("vm_exec", "vm\xFF\0".b) }, :read],
    "what perf prints of a file with a zero in its name" => ["what perf prints", ->(text) { text.b.sub("vm_exec_core (/usr/lib", "[unknown] (/us\0r/lib".b) }, :read],
    "perf's file whose end no file can have" => ["perf's file", put(40, HUGE), /it is cut short/],
    "a ledger with an entry of no kind" => ["ledger", put(LAYOUT[:entries_offset] + LAYOUT[:kind_offset], [77].pack("Q")), /it is not a ledger, or it is damaged/],
    "a ledger whose process tells of itself by a number" => ["ledger", put(LAYOUT[:facts_offset], "7\0"), /it is not a ledger, or it is damaged/],
    "lanes of a ledger whose process does so, which has none" => ["lanes of a ledger", put(LAYOUT[:facts_offset], "7\0"), :read],
    "a ledger with a trace of more steps than memory holds" => ["ledger", put(FIRST_TRACE + 7 * 8, [2**40].pack("Q")), /it is not a ledger, or it is damaged/],
    "a ledger with more locks than it has room for" => ["ledger", put(FIRST_LOCK + 8, [2**40].pack("Q")), /it is not a ledger, or it is damaged/],
    "lanes of a ledger with an entry of no kind, which has none" => ["lanes of a ledger", put(LAYOUT[:entries_offset] + LAYOUT[:kind_offset], [77].pack("Q")), :read],
    "a written ledger whose entries are numbers" => ["ledger of processes that have ended", set("entries", [1, 2]), /another version of puma_tuner writes it|it is not/],
    "a written ledger that tells nothing of itself" => ["ledger of processes that have ended", set("facts", nil), /another version of puma_tuner writes it/],
    "a written ledger of a process that has no number" => ["ledger of processes that have ended", set("pid", nil), /another version of puma_tuner writes it/],
    "a written ledger with a number that is a text" => ["ledger of processes that have ended", set("cycles_count", "x"), /another version of puma_tuner writes it/],
    "a written ledger that is cut short" => ["ledger of processes that have ended", ->(text) { text[0, 100] }, /it is not JSON, or it is cut short/],
    "a recommendation of no time" => ["recommendation", set("made_at_s", nil), :read],
    "a recommendation that is no topology" => ["recommendation", set("topology", "x"), :read],
    "a state of a pool with a key that is no text" => ["state of a pool", ->(text) { text.b.sub("threads", "thr\xFFads".b) }, :read],
    "names of an exporter that are numbers and lists" => ["names that are exported", ->(text) { "[7,\"GET /x\"]\n[[\"request\"],\"GET /x\"]\n#{text}" }, :read],
    "gauges that are texts" => ["gauges of a process", set("gc_ns", "x"), :read],
    "lines of a process's groups that are none" => ["control group", ->(_) { "\n0\n" }, :read],
    "a size in a database.yml whose comment ends as YAML has it" => ["database.yml", ->(_) { "# a\u2028# b\nproduction:\n  pool: 5\n" }, :read],
    "a size of memory whose digits no number holds" => ["words of the command", ->(_) { "memory #{"9" * 400}GiB" }, /--memory 9+GiB: write a size/],
    "a rate at which no second request ever comes" => ["words of the command", ->(_) { "rates 1e-300" }, /each from 0\.001 to 200000/],
    "a goal of more nanoseconds than a document holds" => ["words of the command", ->(_) { "slo 99% < 99999999999s" }, /that is no goal/],
    "a topology of a million processes" => ["words of the command", ->(_) { "topologies 1000000x5" }, /is not a topology/],
    "what may differ, which is nothing" => ["words of the command", ->(_) { "allow" }, /a fingerprint has ruby/],
    "words that are no text" => ["words of the command", ->(_) { "memory \xFF".b }, /word 1 of the command is not UTF-8 text/],
    "CPU that is more than 64 bits hold" => ["what-if", ->(_) { "cpu*1e300" }, /at most a million/],
    "without, and no word of what" => ["what-if", ->(_) { "without*2" }, /write such as/],
    "clients that no machine has" => ["what-if", ->(_) { "traffic*1000000" }, /that would be 10000000 connections/],
    "an order of a controller whose name is no text" => ["order to resize", ->(text) { text.b.sub("1-2-3", "1\xFF3".b) }, :read],
    "a puma.rb of more brackets than a stack has room for" => ["puma.rb", ->(_) { "[" * 100_000 }, /nests too deeply|it is not Ruby/],
    "a puma.rb with bytes of no text" => ["puma.rb", ->(text) { text.b + "on_restart do # \xFF\nend\n".b }, :read],
    "lograge whose duration no memory holds" => ["access log with times", ->(_) { "{\"method\":\"GET\",\"path\":\"/a\",\"duration\":\"1e999999999\",\"at\":\"2026-10-10T13:55:36Z\"}\n" }, /\w/],
    "an answer of Prometheus without values" => ["answers of Prometheus", ->(_) { '{"status":"success","data":{"result":[{"metric":{}}]}}' }, /did not answer as Prometheus does: key not found/],
    "an answer of Prometheus whose labels are a number" => ["answers of Prometheus", ->(_) { '{"status":"success","data":{"result":[{"metric":7,"values":[],"value":[1,"2"]}]}}' }, /labels are no texts/],
    "an answer of Prometheus that is no hash" => ["answers of Prometheus", ->(_) { '{"status":"success","data":7}' }, /did not answer as Prometheus does/]
  }.each do |what, (name, change, expected)|
    test "#{name}: #{what}" do
      reader = READERS.fetch(name)
      Dir.mktmpdir do |folder|
        File.binwrite(path = File.join(folder, "input"), change.call(reader.seeds.first))
        next assert_silent { reader.read.call(path) } if expected == :read
        assert_match expected, assert_raises(PumaTuner::Error) { reader.read.call(path) }.message
      end
    end
  end

  test "order to resize: one that expires after all time is refused as any other that is none" do
    reader = READERS.fetch("order to resize")
    Dir.mktmpdir do |folder|
      File.binwrite(path = File.join(folder, "input"), reader.seeds.first.sub(/"expires_at_ns":\d+/, '"expires_at_ns":1e999'))
      assert_match(/beyond all numbers/, assert_raises(TypeError) { reader.read.call(path) }.message)
    end
  end
end
