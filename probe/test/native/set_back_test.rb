# frozen_string_literal: true

require "test_helper"
require "open3"
require "tmpdir"

# The counter that hooks read may begin anew where a machine sleeps to memory. No machine is sent to sleep here: the
# extension is compiled with another clock, which is set back while requests are under way.
class SetBackTest < TunerTest
  time_limit 120

  PROBE = File.expand_path("../..", __dir__)

  # It comes before each file of the extension, which then finds no TSC, and has all times from here.
  CLOCK = <<~C
    #include <stdio.h>
    #include <stdlib.h>
    #include <time.h>
    static inline int set_back(clockid_t clock, struct timespec *now)
    {
        int failed = clock_gettime(clock, now);
        if (clock == CLOCK_MONOTONIC) now->tv_sec -= atoi(getenv("SET_BACK_S"));
        return failed;
    }
    #define clock_gettime set_back
    #define fopen(path, mode) NULL
  C

  # It is set back while one thread rests, one sleeps in its request, one has the GVL in its own, and one serves none.
  SCRIPT = <<~RUBY
    C = PumaTuner::Probe::GvlClock
    abort(C.why_not.to_s) unless C.start
    C.open_ledger(ARGV.first, "{}")&.then { |why_not| abort(why_not) }
    entry = C.entry(PumaTuner::Probe::Ledger::KIND_NUMBERS[:request], "GET /")
    asked, answered = Queue.new, Queue.new
    Thread.new { (C.request_begin && sleep(0.01) && C.request_end(entry, nil, nil) && answered << 1) while asked.pop }
    serve = -> { (asked << 1) && answered.pop }
    Array.new(2) { serve.call }
    beside = Thread.new { sleep }
    beside.name = "beside"
    sleeping = Thread.new { C.request_begin && sleep(0.3) && C.request_end(entry, nil, nil) }
    Thread.pass until beside.stop? && sleeping.stop?
    C.request_begin
    ENV["SET_BACK_S"] = "3"
    C.request_end(entry, nil, nil)
    sleeping.join
    Array.new(3) { serve.call }
    ledger = PumaTuner::Probe::Ledger.read(ARGV.first)
    times_ns = ledger.entries.values.flat_map(&:sums) + ledger.traces.values.flatten.map(&:wall_ns)
    puts ledger.entries.fetch([:request, "GET /"]).counts.first, times_ns.max < 60_000_000_000, ledger.entries.key?([:thread, "beside"])
  RUBY

  def run_program(*words)
    out, status = Open3.capture2e({"RUBYOPT" => nil, "RUBYLIB" => nil, "SET_BACK_S" => "0"}, *words)
    assert status.success?, out
    out
  end

  # @return [String] a folder for $LOAD_PATH, with the extension and nothing else
  def compile_into(folder)
    clock = File.join(folder, "clock_that_is_set_back.h")
    library = File.join(folder, "#{PumaTuner::Probe::Extension::SHIPPED}.so")
    FileUtils.mkdir_p(File.dirname(library))
    File.write(clock, CLOCK)
    run_program(*RbConfig::CONFIG["CC"].split, "-include", clock, "-std=gnu11", "-O1", "-w", "-fPIC", "-shared", "-D_GNU_SOURCE",
      "-DHAVE_RB_INTERNAL_THREAD_SPECIFIC_GET=1", "-DHAVE_POSIX_FALLOCATE=1",
      *RbConfig::CONFIG.values_at("rubyarchhdrdir", "rubyhdrdir").map { |headers| "-I#{headers}" },
      *Dir[File.join(PROBE, "ext/puma_tuner_probe/*.c")], "-o", library)
    folder
  end

  test "a counter that begins anew costs what is under way its time so far, and no more" do
    Dir.mktmpdir do |folder|
      told = run_program(RbConfig.ruby, "-I", compile_into(folder), "-I", PumaTuner::Probe::LIBRARY_FOLDER, "-rpuma_tuner/probe",
        "-e", SCRIPT, File.join(folder, "ledger"))
      assert_equal "7\ntrue\ntrue\n", told
    end
  end
end
