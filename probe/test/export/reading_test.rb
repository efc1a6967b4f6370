# frozen_string_literal: true

require "test_helper"
require "json"
require "tmpdir"
require "support/encodings"

class ExportReadingTest < TunerTest
  Probe = PumaTuner::Probe
  include Encodings
  include PumaTuner::Export

  def setup
    @ledgers = Probe::Ledgers.new(Dir.mktmpdir)
    @living = []
  end

  def teardown
    @living.each { |pid, io| io.close && Process.wait(pid) }
    FileUtils.rm_rf(@ledgers.directory)
  end

  # A process that records requests by name, and ends; or stays until the test ends.
  def record(requests, stay: false, worker_index: 0, kind: :request, serves: true)
    told, tell = IO.pipe
    stop, io = IO.pipe
    pid = fork do
      io.close
      Probe::GvlClock.start
      Probe::GvlClock.open_ledger(@ledgers.new_path("ledger"), JSON.generate({worker_index:}))
      requests.each { |name, count| count.times { end_one(kind, name) } }
      ProcessGauges.new(@ledgers.directory, server: nil, worker_index:).write if serves
      tell.close
      stop.read if stay
      exit!(0)
    end
    tell.close
    told.read
    stay ? @living << [pid, io] : Process.wait(pid)
    pid
  end

  def end_one(kind, name)
    Probe::GvlClock.job_begin
    Probe::GvlClock.request_end(Probe::GvlClock.entry(Probe::Ledger::KIND_NUMBERS[kind], name), nil, nil)
  end

  def reading(endpoints_max: 200) = @reading ||= Reading.new(@ledgers, leader_pid: Process.pid, endpoints_max:)

  # @return [Hash{String => Family}]
  def families = Families.new(reading.take).call.to_h { |family| [family.name.delete_prefix("puma_tuner_"), family] }

  def counts(name = "endpoint_request_duration_seconds", label = :endpoint)
    families.fetch(name).samples.to_h { |labels, buckets| [labels.fetch(label), buckets.count] }
  end

  test "processes add up, living and ended, and no count ever falls" do
    record({"GET /a" => 3, "GET /b" => 1}, stay: true)
    record({"GET /a" => 2})
    assert_equal({"GET /a" => 5, "GET /b" => 1}, counts)
    assert_equal 6, families.fetch("request_duration_seconds").samples[{}].count
    (Probe::Folding::ENDED_MAX + 1).times { record({"GET /a" => 1}) }
    before = counts
    assert_equal 5 + Probe::Folding::ENDED_MAX + 1, before["GET /a"]
    @ledgers.fold_ended
    assert_equal before, counts
  end

  test "a ledger that has not changed since the last scrape is not read again" do
    record({"GET /a" => 1, "GET /b" => 1}, stay: true)
    works = -> { reading.take.works.to_h { |work| [work.name, work] } }
    before = works.call
    record({"GET /b" => 2, "GET /c" => 1})
    after = works.call
    assert_same before["GET /a"], after["GET /a"]
    assert_equal({"GET /a" => 1, "GET /b" => 3, "GET /c" => 1}, after.transform_values { |work| work.durations.count })
    again = works.call
    after.each { |name, work| assert_same work, again[name] }
  end

  test "a ledger that can't be read, or has gone, hides no other" do
    record({"GET /a" => 1}, stay: true)
    path = @ledgers.new_path("json")
    File.write(path, "{}")
    assert_equal({"GET /a" => 1}, counts)
    File.unlink(path)
    File.write(@ledgers.new_path("ledger"), "short")
    assert_equal({"GET /a" => 1}, counts)
  end

  test "before the first request there is a histogram of none, as a counter that begins above zero hides what came before" do
    assert_equal 0, families.fetch("request_duration_seconds").samples[{}].count
    assert_empty families.fetch("endpoint_request_duration_seconds").samples
  end

  test "names beyond the bound count together, whichever process had them first" do
    record({"GET /a" => 3, "GET /b" => 2})
    reading(endpoints_max: 2)
    assert_equal({"GET /a" => 3, "GET /b" => 2}, counts)
    record({"GET /c" => 4, "GET /d" => 5, "GET /a" => 1})
    assert_equal({"GET /a" => 4, "GET /b" => 2, "(other)" => 9}, counts)
    record({"GET /c" => 1})
    assert_equal({"GET /a" => 4, "GET /b" => 2, "(other)" => 10}, counts)
  end

  test "names beyond the bound are the same in each process that is asked" do
    one, two = Array.new(2) { AdmittedNames.new(@ledgers.directory, 1) }
    assert_equal "GET /b", one.admit(:request, "GET /b")
    assert_equal ["(other)", "GET /b", "Nightly"], [two.admit(:request, "GET /a"), two.admit(:request, "GET /b"), two.admit(:job, "Nightly")]
    assert_equal ["(other)", "Nightly", "(other)"], [one.admit(:request, "GET /a"), one.admit(:job, "Nightly"), one.admit(:job, "Daily")]
    assert_equal ["GET /a", "(other)"], ["GET /a", "GET /b"].map { |name| (@nowhere ||= AdmittedNames.new("/nowhere", 1)).admit(:request, name) }
  end

  test "a name of which only a part could be written costs nobody's figures, nor the name after it" do
    path = File.join(@ledgers.directory, "exported.names")
    one, two = Array.new(2) { AdmittedNames.new(@ledgers.directory, 2) }
    one.admit(:request, "GET /a")
    File.write(path, "[\"request\",\"GET /lo", mode: "a")
    assert_equal %w[/a /b (other)], %w[/a /b /c].map { |one_path| two.admit(:request, "GET #{one_path}").delete_prefix("GET ") }
    File.write(path, "17\n[7,\"GET /x\"]\n[\"request\",[1]]\n[\"\xFF\",\"GET /x\"]\n{\"a\":1}\n", mode: "a")
    assert_equal %w[(other) /b Nightly], [["GET /c", :request], ["GET /b", :request], ["Nightly", :job]].map { |name, kind| one.admit(kind, name).delete_prefix("GET ") }
    assert_equal ["(other)", "Nightly"], [AdmittedNames.new(@ledgers.directory, 2).admit(:request, "GET /c"), two.admit(:job, "Nightly")]
  end

  test "where there is no place for a name, the process that has it goes on, and others learn those that come later" do
    told, tell = IO.pipe
    pid = fork do
      trap(:XFSZ, "IGNORE") # then a write beyond the limit is an error
      names = AdmittedNames.new(@ledgers.directory, 3)
      names.admit(:request, "GET /a")
      limits = Process.getrlimit(:FSIZE)
      Process.setrlimit(:FSIZE, File.size(File.join(@ledgers.directory, "exported.names")) + 15, limits.last)
      found = ["GET /longer", "GET /a"].map { |name| names.admit(:request, name) }
      Process.setrlimit(:FSIZE, *limits)
      tell.write(JSON.generate([*found, names.admit(:request, "GET /b")]))
    ensure
      tell.close
      exit!(0)
    end
    tell.close
    assert_equal ["GET /longer", "GET /a", "GET /b"], JSON.parse(told.read)
    Process.wait(pid)
    assert_match(/^\["request","GET\n/, File.read(File.join(@ledgers.directory, "exported.names")))
    other = AdmittedNames.new(@ledgers.directory, 2)
    assert_equal ["GET /a", "GET /b", "(other)"], ["GET /a", "GET /b", "GET /c"].map { |name| other.admit(:request, name) }
  end

  test "names in any letters are the same in each process, whatever encoding files have for it" do
    AdmittedNames.new(@ledgers.directory, 2).admit(:request, NAME)
    script = <<~RUBY
      require "puma_tuner/probe"
      require "puma_tuner/export"
      names = PumaTuner::Export::AdmittedNames.new(ARGV[0], 2)
      p [NAME, "\\u{2192}", "GET /"].map { |name| names.admit(:request, name) == name }
    RUBY
    assert_equal ["[true, true, false]"], in_each_encoding(script, @ledgers.directory).uniq
    assert_equal [NAME, "→", "(other)"], [NAME, "→", "GET /"].map { |name| AdmittedNames.new(@ledgers.directory, 2).admit(:request, name) }
  end

  test "no label is one that Prometheus puts on every sample" do
    record({"GET /a" => 1}, stay: true)
    record({"Nightly" => 1}, kind: :job)
    labels = families.values.flat_map { |family| family.samples.keys.flat_map(&:keys) }.map(&:to_s).uniq
    assert_empty labels & %w[job instance]
    assert_empty labels - PumaTuner::Export::OWN_LABELS
    assert_match(/"job" can't be a label/, assert_raises(PumaTuner::UsageError) { PumaTuner.export(nil, labels: {job: "shop"}) }.message)
  end

  test "jobs are no requests, and have no queue" do
    record({"Nightly" => 2}, kind: :job)
    assert_equal({"Nightly" => 2}, counts("job_duration_seconds", :kind))
    assert_equal 0, families.fetch("request_duration_seconds").samples[{}].count
    parts = families.fetch("job_time_seconds_total").samples.keys.map { |labels| labels[:part] }
    assert_equal %w[cpu preempted gvl_wait gc io lock sleep], parts
  end

  test "parts sum to the duration" do
    record({"GET /a" => 50})
    all = families
    sum_s = all.fetch("request_duration_seconds").samples[{}].sum_ns / 1e9
    assert_in_delta sum_s, all.fetch("request_time_seconds_total").samples.values.sum, sum_s * 0.02 + 1e-4
  end

  test "each living process tells of its memory, CPU time, heap and compiler; ended ones do not" do
    pid = record({"GET /a" => 1}, stay: true, worker_index: 3)
    record({"GET /a" => 1}, worker_index: 4)
    # Its share grows while this process writes to pages that both have had since the fork.
    before_bytes = Probe::Processes.memory(pid)[:pss_bytes]
    all = families
    after_bytes = Probe::Processes.memory(pid)[:pss_bytes]
    assert_equal [{worker: "master"}, {worker: "3"}], all.fetch("process_pss_bytes").samples.keys
    least_bytes, most_bytes = [before_bytes, after_bytes].minmax
    assert_includes (least_bytes - 1_000_000)..(most_bytes + 1_000_000), all.fetch("process_pss_bytes").samples[{worker: "3"}]
    %w[gc_runs_total allocated_objects_total heap_pages].each { |name| assert_equal [{worker: "3"}], all.fetch(name).samples.keys, name }
    assert_equal ["#{pid}.gauges"], Dir.children(@ledgers.directory).grep(/gauges/)
  end

  test "of two workers of one index, as while one is replaced, memory adds up and counters are the younger one's" do
    record({"GET /a" => 1}, stay: true, worker_index: 0)
    one = families.fetch("process_pss_bytes").samples[{worker: "0"}]
    pid = record({"GET /a" => 1}, stay: true, worker_index: 0)
    @reading = nil
    all = families
    assert_operator all.fetch("process_pss_bytes").samples[{worker: "0"}], :>, one * 1.3
    younger = JSON.parse(File.read(File.join(@ledgers.directory, "#{pid}.gauges")))
    assert_equal younger["allocated_count"], all.fetch("allocated_objects_total").samples[{worker: "0"}]
  end

  test "what an app forks in a worker, and has a job measured, takes the place of no worker" do
    pid = record({"GET /a" => 1}, stay: true, worker_index: 0)
    record({"Nightly" => 1}, stay: true, worker_index: 0, kind: :job, serves: false)
    worker = JSON.parse(File.read(File.join(@ledgers.directory, "#{pid}.gauges")))
    all = families
    assert_equal worker["allocated_count"], all.fetch("allocated_objects_total").samples[{worker: "0"}]
    assert_equal [1, 1], %w[request_duration_seconds job_duration_seconds].map { |name| all.fetch(name).samples.values.first.count }
  end

  test "a master with a server of its own, as for Puma's control app, is no worker" do
    pid = record({"GET /a" => 1}, stay: true, worker_index: nil)
    record({"GET /a" => 1}, stay: true, worker_index: 0)
    @reading = Reading.new(@ledgers, leader_pid: pid, endpoints_max: 200)
    all = families
    assert_equal [{worker: "master"}, {worker: "0"}], all.fetch("process_pss_bytes").samples.keys
    assert_equal [{worker: "0"}], all.fetch("gc_runs_total").samples.keys
  end

  test "the control group's working set is told as a whole, and absent where there is none" do
    record({"GET /a" => 1}, stay: true)
    bytes = PumaTuner::Probe::ControlGroup.of(Process.pid).working_set_bytes
    told = families.fetch("cgroup_working_set_bytes").samples
    bytes ? assert_in_delta(bytes, told.fetch({}), bytes / 2.0) : assert_empty(told)
    @reading.instance_variable_set(:@working_set_bytes, nil)
    assert_empty PumaTuner::Export::Families.new(@reading).call.find { |one| one.name.end_with?("working_set_bytes") }.samples
  end

  # As Puma's server tells them: free are also threads that it has yet to start.
  Pool = Data.define(:max_threads, :pool_capacity, :backlog)

  test "a worker tells how many of its threads are busy, and how many requests wait; before it serves, neither" do
    told = [Pool.new(5, 2, 0), Pool.new(5, 0, 7), Pool.new(3, 5, 0), Pool.new(5, nil, nil), nil].map do |server|
      ProcessGauges.new(@ledgers.directory, server:, worker_index: 0).read.values_at(:busy_threads_count, :queued_count)
    end
    assert_equal [[3, 0], [5, 7], [0, 0], [nil, nil], [nil, nil]], told
  end

  test "gauges of a process that fell silent are nobody's knowledge" do
    record({"GET /a" => 1}, stay: true)
    path = Dir[File.join(@ledgers.directory, "*.gauges")].first
    File.write(path, JSON.generate(JSON.parse(File.read(path)).merge("at_s" => Process.clock_gettime(Process::CLOCK_MONOTONIC) - 100, "interval_s" => 10)))
    assert_empty families.fetch("gc_runs_total").samples
    refute_empty families.fetch("process_pss_bytes").samples
    ["{", "[]", "7", "{}", '{"pid":1}', JSON.generate(JSON.parse(File.read(path)).merge("at_s" => Process.clock_gettime(Process::CLOCK_MONOTONIC), "gc_count" => "x"))].each do |damaged|
      File.write(path, damaged)
      assert_empty families.fetch("gc_runs_total").samples, damaged
      refute_empty families.fetch("process_pss_bytes").samples, damaged
    end
  end

  test "without the extension, GVL wait is not 0 but absent" do
    path = @ledgers.new_path("json")
    fallback = Probe::FallbackRecorder.new(path:, facts: {worker_index: nil, why_not: "no extension"}, endpoint: Probe::Endpoint.new)
    fallback.job("a job") { 1 + 1 }
    fallback.send(:write)
    all = families
    assert_equal "false", all.fetch("exporter_info").samples.keys.first[:complete]
    assert_empty all.fetch("request_gvl_wait_seconds").samples
    refute_includes all.fetch("job_time_seconds_total").samples.keys.map { |labels| labels[:part] }, "gvl_wait"
  end

  test "YJIT's limit is that of the version, or of RUBYOPT" do
    limit = PumaTuner::Probe::YjitLimit
    mib = 1 << 20
    assert_equal [48 * mib, 128 * mib, 128 * mib, nil], %w[3.3.8 3.4.5 4.0.0 3.2.0].map { |version| limit.bytes(version:, options: nil) }
    assert_equal 64 * mib, limit.bytes(version: "3.3.8", options: "-W0 --yjit-exec-mem-size=64")
    assert_equal 10, limit.counted(10, 20, version: "3.3.8", options: nil)
    assert_equal 30, limit.counted(10, 20, version: "3.4.5", options: nil)
    assert_equal 10, limit.counted(10, 20, version: "3.4.5", options: "--yjit-exec-mem-size=64")
    broken = "-I/gr\xC3\xB6\xC3\x9Fe --yjit-mem-size=64".b.force_encoding(Encoding::US_ASCII) # as where no locale is set
    assert_equal [64 * mib, false], [limit.bytes(version: "3.4.5", options: broken), limit.code_only?(version: "3.3.8", options: broken)]
  end
end
