# frozen_string_literal: true

require "test_helper"
require "json"
require "tmpdir"
require "support/encodings"

class LedgersTest < TunerTest
  include Encodings
  include PumaTuner::Probe

  def setup
    @ledgers = Ledgers.new(Dir.mktmpdir)
  end

  def teardown = FileUtils.rm_rf(@ledgers.directory)

  # A process that records so many requests, each of which does the block, and ends.
  def record(count, name: "GET /", &work)
    pid = fork do
      GvlClock.start
      abort unless GvlClock.open_ledger(@ledgers.new_path("ledger"), "{}").nil?
      entry = GvlClock.entry(Ledger::KIND_NUMBERS[:request], name)
      count.times do
        GvlClock.job_begin
        work&.call
        GvlClock.request_end(entry, nil, nil)
      end
      exit!(0)
    end
    Process.wait(pid)
    assert_predicate $?, :success?
  end

  def account(before = {}) = Account.new(before, @ledgers.read)

  def counts(account) = account.endpoints.to_h { |endpoint| [endpoint.name, endpoint.requests_count] }

  # A process that watches locks: each of two is held once, in the order that is
  # given, in a request of its own; and ends.
  def record_locks(order, rounds: 1)
    pid = fork do
      GvlClock.start
      abort unless GvlClock.open_ledger(@ledgers.new_path("ledger"), "{}").nil? && GvlClock.watch_locks
      locks = {first: Mutex.new, second: Mutex.new}
      hold = {
        first: -> { locks[:first].synchronize { sleep 0.001 } },
        second: -> { locks[:second].synchronize { sleep 0.001 } }
      }
      rounds.times do
        order.each do |name|
          GvlClock.job_begin
          hold[name].call
          GvlClock.request_end(GvlClock.entry(Ledger::KIND_NUMBERS[:request], name.to_s), nil, nil)
        end
      end
      exit!(0)
    end
    Process.wait(pid)
    assert_predicate $?, :success?
  end

  # @return [Hash{String => Array<Integer>}] by endpoint, the locks in its traces
  def traced_locks(account)
    account.endpoints.to_h do |endpoint|
      steps = endpoint.traces.flat_map { |trace| trace.steps.each_slice(2).to_a }
      [endpoint.name, steps.filter_map { |kind, id| id if kind == "acquire" }.uniq]
    end
  end

  test "the figures of several processes add up" do
    record(3)
    record(4)
    record(5, name: "GET /other")
    assert_equal({"GET /" => 7, "GET /other" => 5}, counts(account))
    assert_equal 7, account.endpoints.first.latency.count
  end

  test "traces that have no room for all of a request's steps are counted" do
    record(2, name: "GET /long") { 200.times { sleep 0.00001 } }
    record(3, name: "GET /short") { 100.times { sleep 0.00001 } }
    assert_equal({"GET /long" => 2, "GET /short" => 0}, account.endpoints.to_h { |one| [one.name, one.cut_traces_count] })
    assert_includes account.unknown, PumaTuner::Unknown.of(:steps, :cut, cut_count: 2, traces_count: 5, most_count: 512)
  end

  test "two readings make a window" do
    record(3)
    before = @ledgers.read
    record(4)
    assert_equal({"GET /" => 4}, counts(account(before)))
    assert_equal 4, account(before).endpoints.first.latency.count
  end

  test "of too many ledgers of processes that have ended, the oldest become one, and nothing is lost" do
    (Folding::ENDED_MAX + 2).times { record(2) }
    oldest = @ledgers.paths.last(2).each { |path| File.utime(0, 0, path) }
    before = @ledgers.read
    @ledgers.fold_ended
    assert_equal Folding::ENDED_MAX + 1, @ledgers.paths.size
    assert_empty @ledgers.paths & oldest
    assert_equal({"GET /" => 2 * (Folding::ENDED_MAX + 2)}, counts(account))
    assert_empty counts(account(before)), "a window that spans it gains nothing by it"
    (Folding::ENDED_MAX + 1).times { record(1) }
    @ledgers.fold_ended
    assert_equal Folding::ENDED_MAX + 1, @ledgers.paths.size
    assert_equal({"GET /" => 2 * (Folding::ENDED_MAX + 2) + Folding::ENDED_MAX + 1}, counts(account))
  end

  test "a few become one as well where they take more than they may" do
    2.times { record(2) }
    bytes = @ledgers.paths.sum { |path| File.stat(path).blocks * 512 }
    @ledgers.fold_ended(bytes)
    assert_equal 2, @ledgers.paths.size
    @ledgers.fold_ended(bytes - 1)
    assert_equal ["ended.json"], @ledgers.paths.map { |path| File.basename(path) }
    assert_equal({"GET /" => 4}, counts(account))
  end

  test "where there is no place for what they become, their traces make some" do
    2.times { record_locks(%i[first second]) }
    in_full_place(1) { @ledgers.fold_ended(1) }
    assert_equal ["ended.json"], @ledgers.paths.map { |path| File.basename(path) }
    assert_equal [{"first" => 2, "second" => 2}, [2, 2]], [counts(account), account.locks.map(&:holds_count)]
  end

  test "no more of them go than there must be room" do
    2.times { record(2) }
    traced = account.endpoints.first.traces.size
    replaced = PumaTuner::AtomicFile.method(:write)
    calls = 0
    replace_write { |*| ((calls += 1) < 2) ? raise(Errno::ENOSPC) : raise(Errno::EACCES) }
    assert_raises(Errno::EACCES) { @ledgers.fold_ended(1) }
    assert_equal traced / 2, account.endpoints.first.traces.size
  ensure
    replace_write(&replaced)
  end

  test "who has one open when it goes keeps next to no memory, and its figures" do
    2.times { record(2) }
    path = @ledgers.paths.first
    File.open(path) do |file|
      before = file.stat.blocks
      @ledgers.fold_ended(1)
      refute_path_exists path
      assert_operator file.stat.blocks, :<, before
      IO.copy_stream(file, path)
      assert_equal({"GET /" => 4 + 2}, counts(account))
    end
  end

  test "where they take more than they may, those that nobody can read go" do
    2.times { File.binwrite(@ledgers.new_path("ledger"), "x" * 100_000) }
    @ledgers.fold_ended
    assert_equal 2, @ledgers.paths.size
    @ledgers.fold_ended(1)
    assert_empty @ledgers.paths
  end

  test "where there is none even so, they stay, without their traces" do
    2.times { record(2) }
    bytes = -> { @ledgers.paths.sum { |path| File.stat(path).blocks } }
    before, traced = bytes.call, account.endpoints.first.traces.size
    in_full_place(3) { assert_raises(Errno::ENOSPC) { @ledgers.fold_ended(1) } }
    assert_equal [2, {"GET /" => 4}, 4, []], [@ledgers.paths.size, counts(account), traced, account.endpoints.first.traces]
    assert_operator bytes.call, :<, before
    @ledgers.fold_ended(1)
    assert_equal({"GET /" => 4}, counts(account))
  end

  test "they are read and become one under names in any letters, whatever encoding files have for the process" do
    2.times { (Folding::ENDED_MAX + 1).times { record(1, name: NAME) } && @ledgers.fold_ended }
    script = <<~RUBY
      require "puma_tuner/probe"
      ledgers = PumaTuner::Probe::Ledgers.new(ARGV[0])
      ledgers.fold_ended
      entries = PumaTuner::Probe::Ledger.sum(ledgers.read.values)
      p entries.transform_values { |entry| entry.counts.first }[[:request, NAME]]
    RUBY
    assert_equal [(2 * (Folding::ENDED_MAX + 1)).to_s], in_each_encoding(script, @ledgers.directory).uniq
  end

  test "a worker that began before is known by its title, whatever letters the app's folder has" do
    script = 'require "puma_tuner/probe"; $0 = "puma: cluster worker 1: 77 [gr\xC3\xB6\xC3\x9Fe]".dup.force_encoding("US-ASCII"); p PumaTuner::Probe::Puma.worker'
    assert_equal ["[1, 77]"], in_each_encoding(script).uniq
  end

  test "a process that begins waits for no reader, and adds nothing up beside it" do
    (Folding::ENDED_MAX + 1).times { record(1) }
    LockedFile.open(File.join(@ledgers.directory, "fold.lock"), File::LOCK_SH) do
      begins = Thread.new { @ledgers.fold_ended }
      ended = begins.join(5)
      begins.kill
      assert ended, "it waits"
      assert_equal Folding::ENDED_MAX + 1, @ledgers.paths.size
    end
    @ledgers.fold_ended(0)
    assert_equal 1, @ledgers.paths.size
  end

  test "a ledger can be read without its traces" do
    record(3)
    path = @ledgers.paths.first
    assert_equal Ledger.read(path).with(traces: {}), Ledger.read(path, traced: false)
  end

  test "a trace of an endpoint that came after the entries were read is left out" do
    record(3)
    path = @ledgers.paths.first
    traces = Ledger.read(path).traces
    assert_equal 3, traces.values.sum(&:size)
    File.open(path, "r+b") { |file| file.pwrite([300].pack("Q"), Ledger::LAYOUT[:traces_offset] + 8) }
    assert_equal 2, Ledger.read(path).traces.values.sum(&:size)
  end

  test "a process without the extension is one of the server's" do
    fallback = FallbackRecorder.new(path: @ledgers.new_path("json"), facts: {worker_index: 2, why_not: "no extension"}, endpoint: Endpoint.new)
    fallback.job("a job") { 1 + 1 }
    fallback.send(:write)
    ledger = @ledgers.read.values.first
    assert_equal [Process.pid, 2], [ledger.pid, ledger.facts["worker_index"]]
    assert_equal [[:job, "a job"]], ledger.entries.keys
    assert_equal [PumaTuner::Unknown.of(:parts, :no_extension, detail: "no extension")], account.unknown
    assert_includes 0..monotonic_s, ledger.began_at_ns / 1e9
  end

  test "a reader sees all or nothing of what several threads write at once" do
    path = @ledgers.new_path("json")
    fallback = FallbackRecorder.new(path:, facts: {}, endpoint: Endpoint.new)
    100.times { |number| fallback.job("job #{number}") { number } }
    fallback.send(:write)
    writers = Array.new(4) { Thread.new { 40.times { fallback.send(:write) } } }
    counts = []
    counts << Written.read(path).entries.size while writers.any?(&:alive?)
    writers.each(&:join)
    assert_equal [100], counts.uniq
  end

  test "the same lock has one id in all processes, in whichever order they came upon it" do
    record_locks(%i[first second])
    record_locks(%i[second first], rounds: 2)
    locks = account.locks
    assert_equal [[3, 2], [3, 2]], locks.map { |lock| [lock.holds_count, lock.threads_count] }
    traced = traced_locks(account)
    assert_equal [1, 1], traced.values.map(&:size), traced.inspect
    assert_equal locks.map(&:id).sort, traced.values.flatten.sort
    assert_operator account.probe(nil).lock_pairs_count, :>=, 6
  end

  test "a lock's numbers are those of the window, and one that nobody held in it is not told of" do
    record_locks(%i[first second])
    @ledgers.begin_window
    before = @ledgers.read
    record_locks(%i[second], rounds: 3)
    assert_equal([[3, 0, 1]], account(before).locks.map { |lock| [lock.holds_count, lock.waits_count, lock.threads_count] })
    assert_nil Account.new({}, {}).locks
  end

  test "locks of processes that have ended stay known when their ledgers become one" do
    (Folding::ENDED_MAX + 1).times { record_locks(%i[first second]) }
    before = @ledgers.read
    @ledgers.fold_ended(0)
    assert_equal ["ended.json"], @ledgers.paths.map { |path| File.basename(path) }
    assert_equal [Folding::ENDED_MAX + 1] * 2, account.locks.map(&:holds_count)
    assert_empty account(before).locks
    assert_operator account.probe(nil).lock_pairs_count, :>=, 2 * (Folding::ENDED_MAX + 1)
  end

  test "few ended ledgers stay as they are" do
    record(2)
    @ledgers.fold_ended
    assert_equal 1, @ledgers.paths.size
    refute_includes @ledgers.paths.first, "ended.json"
  end

  test "the folder of a server that has ended is removed when another begins" do
    pid = fork { exit!(0) }
    Process.wait(pid)
    in_place do |place|
      abandoned = folder_of_ended_server(place)
      ours = Ledgers.of_server(Process.pid).directory
      assert_path_exists ours
      refute_path_exists abandoned
    end
  end

  test "the folder of a server that lives stays while none of its workers does" do
    in_place do |place|
      base = File.join(place, "puma_tuner-#{Process.euid}")
      ours = File.join(base, Processes.identity(Process.pid))
      [base, ours].each { |folder| Dir.mkdir(folder, 0o700) }
      File.utime(0, 0, ours)
      folder_of_ended_server(place)
      assert_path_exists ours
    end
  end

  test "a folder that another server has removed before it was held is made anew" do
    in_place do |place|
      made_count = 0
      removed = Class.new(Ledgers) do
        define_singleton_method(:make) { |path| super(path).tap { Dir.rmdir(path) if (made_count += 1) == 1 } }
      end
      removed.new(folder = File.join(place, "1-1-1")).use
      assert_path_exists folder
      assert_equal 2, made_count
      assert_raises(Errno::ENOENT) { Ledgers.new(File.join(place, "none", "1-1-1")).use }
    end
  end

  test "the folder of a server that lives stays, were its process id unknown here, as another container's is" do
    in_place do |place|
      reader, writer = IO.pipe
      pid = fork do
        Ledgers.of_server(Process.pid).then { |ledgers| writer.puts(ledgers.directory) }
        sleep
      end
      theirs = reader.gets.chomp
      foreign = theirs.sub(/\/\d+-/, "/99999999-")
      File.rename(theirs, foreign)
      File.utime(0, 0, foreign)
      Ledgers.of_server(Process.pid)
      assert_path_exists foreign
      other_container, long_ago = %w[1 2].map { |namespace| foreign.sub(/\d+\z/, namespace) }
      [other_container, long_ago].each { |path| Dir.mkdir(path, 0o700) }
      File.utime(0, 0, long_ago)
      Ledgers.of_server(Process.pid)
      assert_path_exists other_container, "a server that restarts itself holds none for a moment"
      refute_path_exists long_ago
    ensure
      Process.kill(:KILL, pid)
      Process.wait(pid)
    end
  end

  test "nothing but folders of servers is removed, and no link is followed" do
    in_place do |place|
      base = File.join(place, "puma_tuner-#{Process.euid}")
      Dir.mkdir(base, 0o700)
      Dir.mktmpdir do |victim|
        File.write(File.join(victim, "notes"), "x")
        Dir.mkdir(File.join(base, "Documents"))
        File.symlink(victim, File.join(base, "1-1-1"))
        Ledgers.of_server(Process.pid)
        assert_equal ["notes"], Dir.children(victim)
        assert_path_exists File.join(base, "Documents")
      end
    end
  end

  test "a place that is a link, or that others can write to, is not used" do
    in_place do |place|
      base = File.join(place, "puma_tuner-#{Process.euid}")
      Dir.mktmpdir do |victim|
        FileUtils.mkdir_p([File.join(victim, "Documents"), File.join(victim, "1-1-1")])
        %w[Documents/thesis.txt notes].each { |name| File.write(File.join(victim, name), "x") }
        File.symlink(victim, base)
        assert_match(/is not a folder that this user alone can write/, assert_raises(Ledgers::NoPlace) { Ledgers.of_server(Process.pid) }.message)
        assert_equal %w[1-1-1 Documents Documents/thesis.txt notes], Dir.glob("**/*", base: victim).sort
        File.unlink(base)
      end
      Dir.mkdir(base)
      File.chmod(0o777, base)
      assert_raises(Ledgers::NoPlace) { Ledgers.of_server(Process.pid) }
    end
  end

  test "where there is no place in memory, TMPDIR is one, and /tmp where that is none or anybody could put another folder in it" do
    folder = File.realpath(Dir.mktmpdir)
    before, ENV["TMPDIR"] = ENV["TMPDIR"], folder
    assert_equal [Ledgers::IN_MEMORY, folder], Ledgers.places
    File.chmod(0o777, folder)
    assert_equal [Ledgers::IN_MEMORY, "/tmp"], Ledgers.places
    File.chmod(0o1777, folder)
    assert_includes Ledgers.places, folder
    ["#{folder}/none", "~nobody-of-that-name/tmp"].each do |nowhere|
      ENV["TMPDIR"] = nowhere
      assert_includes Ledgers.places, "/tmp"
    end
  ensure
    ENV["TMPDIR"] = before
    FileUtils.rm_rf(folder)
  end

  test "a ledger that is cut short or of another version keeps nobody from recording" do
    (Folding::ENDED_MAX + 1).times { record(1) }
    File.write(@ledgers.new_path("ledger"), "x" * 100)
    File.binwrite(@ledgers.new_path("ledger"), [Ledger::LAYOUT[:magic], 1].pack("QQ") + "\0" * 400_000)
    File.write(File.join(@ledgers.directory, "99999999-1.json"), "{\"pid\": 1")
    @ledgers.fold_ended(0)
    assert_equal ["ended.json"], @ledgers.paths.map { |path| File.basename(path) }
  end

  test "where the sum of those that have ended is none, a new one is made, and nothing but ledgers is removed" do
    [[1], 7, {"folded" => 7}, {"folded" => [7, "", "fold.lock", "a\0"]}].each do |told|
      File.write(File.join(@ledgers.directory, "ended.json"), JSON.generate(told))
      record(1)
      @ledgers.fold_ended(0)
      assert_equal %w[ended.json fold.lock], Dir.children(@ledgers.directory).sort, told.inspect
      assert_equal({"GET /" => 1}, counts(account), told.inspect)
    end
  end

  test "numbers that another version added up in another order are not taken for ours" do
    2.times { record(1) }
    @ledgers.fold_ended(0)
    path = @ledgers.paths.first
    folded = JSON.parse(File.read(path))
    swapped = folded["entries"].map { |entry| entry.merge("sums" => entry["sums"].to_a.reverse.to_h) }
    before = account.endpoints.first.budget
    File.write(path, JSON.generate(folded.merge("entries" => swapped)))
    assert_equal before, account.endpoints.first.budget
    [->(sums) { sums.values }, ->(sums) { sums.except("gc") }].each do |change|
      File.write(path, JSON.generate(folded.merge("entries" => folded["entries"].map { |entry| entry.merge("sums" => change.call(entry["sums"])) })))
      assert_raises(PumaTuner::InvalidDocument) { Ledger.read(path) }
      assert_empty @ledgers.read
    end
  end

  test "ledgers that were added up already, and were left behind, do not count twice" do
    2.times { record(1) }
    left = @ledgers.paths.first
    copy = File.binread(left)
    @ledgers.fold_ended(0)
    before = counts(account)
    File.binwrite(left, copy)
    @ledgers.fold_ended
    assert_equal before, counts(account)
  end

  # Nothing of this machine's own place is touched.
  def in_place
    Dir.mktmpdir do |place|
      original = Ledgers.method(:places)
      replace_places { [place] }
      yield place
    ensure
      replace_places(&original)
    end
  end

  def replace_places(&places)
    Ledgers.singleton_class.remove_method(:places)
    Ledgers.define_singleton_method(:places, &places)
  end

  # @param times [Integer] how often writing a file fails, as in a place that is full
  def in_full_place(times)
    original = PumaTuner::AtomicFile.method(:write)
    replace_write { |*arguments| ((times -= 1) < 0) ? original.call(*arguments) : raise(Errno::ENOSPC) }
    yield
  ensure
    replace_write(&original)
  end

  def replace_write(&write)
    PumaTuner::AtomicFile.singleton_class.remove_method(:write)
    PumaTuner::AtomicFile.define_singleton_method(:write, &write)
  end

  def folder_of_ended_server(_place)
    reader, writer = IO.pipe
    pid = fork do
      writer.puts(Ledgers.of_server(Process.pid).directory)
      exit!(0)
    end
    Process.wait(pid)
    reader.gets.chomp
  end
end
