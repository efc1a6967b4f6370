# frozen_string_literal: true

require "test_helper"
require "json"
require "open3"
require "tmpdir"

# Who had the GVL when: recorded by the extension, put together by Ruby.
class LanesTest < TunerTest
  kind :integration
  time_limit 120

  include PumaTuner::Probe

  MS = 1_000_000
  LAYOUT = Ledger::LAYOUT
  BEGAN_NS = 500_000 * MS

  def setup
    @folder = Dir.mktmpdir
    @path = File.join(@folder, "one.ledger")
  end

  def teardown = FileUtils.rm_rf(@folder)

  # A process of its own, as a recording of this one's would have other tests' threads in it.
  def run_script(script)
    head = <<~RUBY
      C, Probe = PumaTuner::Probe::GvlClock, PumaTuner::Probe
      C.start && C.open_ledger(PATH = #{@path.dump}, "{}").nil? or abort "no ledger"
      ENTRY = C.entry(Probe::Ledger::KIND_NUMBERS[:request], "GET /work")
      def spin(seconds)
        ends_s = PumaTuner::Clock.now_s + seconds
        nil while PumaTuner::Clock.now_s < ends_s
      end
      def order(seconds) = Probe::LaneReader.order(PATH, (seconds * 1e9).round)
    RUBY
    out, status = Open3.capture2e({"RUBYOPT" => nil, "RUBYLIB" => nil}, RbConfig.ruby, "-w", "-I", PumaTuner::Probe::LIBRARY_FOLDER,
      "-rpuma_tuner/probe", "-e", head + script)
    assert status.success?, out
    out
  end

  def read = LaneReader.new(@path).lanes

  def lane(name, process = read) = process.lanes.find { |lane| lane.name == name } || flunk("no #{name} among #{process.lanes.map(&:name)}")

  # Writes records as the extension does, at milliseconds since it began.
  # @param records [Array<Array>] kind, part, lane, number, and three instants
  # @param states [Hash{Integer => Array}] by lane: state, since, ready, in_request, kind, gc_ns and name
  def write(records, states: {}, duration_ms: 100, full_ms: nil, order: 7, followed: 7)
    run_script("") # a ledger of this layout
    at = ->(ms) { ms && BEGAN_NS + (ms * MS).round }
    File.open(@path, "r+b") do |file|
      file.pwrite([duration_ms * MS, order].pack("QQ"), LAYOUT[:lanes_wanted_offset])
      now_ns = PumaTuner::Clock.now_ns
      head = [followed, BEGAN_NS, now_ns - 60_000 * MS, at.call(duration_ms), at.call(full_ms) || 0, records.size]
      file.pwrite(head.pack("Q*"), LAYOUT[:lanes_offset])
      states.each do |slot, (state, since, ready, in_request, name)|
        text = [LaneReader::STATES.index(state), at.call(since), at.call(ready) || 0, in_request ? 1 : 0, 0, 0].pack("Q*") + name
        file.pwrite(text, LAYOUT[:lanes_offset] + LAYOUT[:first_lane_offset] + slot * LAYOUT[:lane_bytes])
      end
      packed = records.map do |kind, part, slot, number, *instants|
        [LaneReader::RECORD_KINDS.index(kind), Parts::CODES.fetch(part, 0), slot, number, *instants.map { |ms| at.call(ms) || 0 }].pack("CCSLQQQ")
      end
      file.pwrite(packed.join, LAYOUT[:lanes_offset] + LAYOUT[:lane_records_offset])
    end
    read
  end

  # Milliseconds, as they are written in the tests.
  def steps(lane) = lane.steps.each_slice(2).flat_map { |kind, ns| [kind, ns.fdiv(MS).round(6)] }

  test "a record is as long as Ruby reads it, and all of it takes no more than two mebibytes" do
    assert_equal LAYOUT[:lane_record_bytes], [0, 0, 0, 0, 0, 0, 0].pack("CCSLQQQ").bytesize
    assert_operator LAYOUT[:lane_records_offset] + LAYOUT[:lane_records_max] * LAYOUT[:lane_record_bytes], :<=, 2 << 20
    assert_operator LAYOUT[:lane_records_max], :>=, 60_000
  end

  test "made events become steps that sum to the wall time, each where it belongs" do
    process = write([
      [:work, nil, 0, 0, -5, nil, 31],
      [:cycle, "db", 0, 3 * MS, 10, 20, 25], # 0..10 held, 2 ms of it collected, 1 ms in short stretches
      [:collected, nil, 0, 0, 4, nil, 6],
      [:cycle, "gvl_wait", 0, 0, 40, 40.01, 48], # a time slice's end
      [:cycle, "idle", 1, 0, -20, 26, 40]
    ], states: {0 => [:released, 60, 70, true, "puma srv tp 001"], 1 => [:running, 40, nil, true, "puma srv tp 002"],
                2 => [:released, -900, nil, false, "puma srv tp 003"], 3 => [:released, 30, nil, true, "other"]})
    first, second, third, other = process.lanes.sort_by { |lane| [lane.serves_requests ? 0 : 1, lane.name] }
    assert_equal ["held", 4.0, "gc", 2.0, "held", 4.0, "db", 10.0, "gvl_wait", 5.0, "held", 15.0, "gvl_wait", 8.0, "held", 12.0,
      "open", 10.0, "gvl_wait", 30.0], steps(first)
    assert_equal MS, first.short_gc_ns
    assert_equal ["idle", 26.0, "gvl_wait", 14.0, "held", 60.0], steps(second)
    assert_equal ["idle", 100.0], steps(third)
    assert_equal ["held", 30.0, "open", 70.0], steps(other)
    assert_equal [100 * MS] * 4, process.lanes.map(&:duration_ns)
    assert_equal [true, true, true, false], [first, second, third, other].map(&:serves_requests)
    assert_equal [0, -5 * MS, 36 * MS], first.works
  end

  test "made at random, the steps of all lanes sum to the wall time, and the sums are those of the events" do
    random = Random.new(1)
    wanted = Hash.new { |sums, slot| sums[slot] = Hash.new(0) }
    records, states = [], {}
    20.times do |slot|
      at_us = 0
      loop do
        held, released, waited = Array.new(3) { random.rand(1..2_000) }
        break if at_us + held + released + waited > 90_000
        kind = %w[db io file lock sleep redis http pool].sample(random:)
        wanted[slot]["held"] += held
        wanted[slot][kind] += released
        wanted[slot]["gvl_wait"] += waited
        instants = [held, released, waited].map { |us| (at_us += us).fdiv(1_000) }
        records << [:cycle, kind, slot, 0, *instants]
      end
      states[slot] = [:running, at_us.fdiv(1_000), nil, true, "puma srv tp 0#{slot}"]
      wanted[slot]["held"] += 100_000 - at_us
    end
    process = write(records.shuffle(random:), states:)
    assert_equal [100 * MS] * 20, process.lanes.map(&:duration_ns)
    20.times do |slot|
      sums = lane("puma srv tp 0#{slot}", process).sums.transform_values { |ns| ns / 1_000 }
      assert_equal wanted[slot].sort, sums.sort
    end
  end

  test "threads that begin and end are lanes of their own, though they had one slot" do
    process = write([
      [:cycle, "sleep", 0, 0, 1, 3, 4], [:ended, "idle", 0, 0, 10, nil, 10.2],
      [:new, nil, 0, 0, 20, 20, 22], [:ended, "held", 0, 0, 22, nil, 30],
      [:new, nil, 0, 0, 50, 50, 51]
    ], states: {0 => [:running, 51, nil, false, "third"]})
    assert_equal [nil, nil, "third"], process.lanes.map(&:name)
    assert_equal [0, 20 * MS, 50 * MS], process.lanes.map(&:from_ns)
    assert_equal [["held", 1.0, "sleep", 2.0, "gvl_wait", 1.0, "held", 6.0], ["gvl_wait", 2.0, "held", 8.0],
      ["gvl_wait", 1.0, "held", 49.0]], process.lanes.map { |lane| steps(lane) }
  end

  test "who held it is told with what it served" do
    process = write([
      [:cycle, "gvl_wait", 0, 0, 10, 10, 60], [:cycle, "io", 1, 0, 30, 35, 36], [:cycle, "io", 2, 0, 2, 20, 36],
      [:work, nil, 1, 4, 0, nil, 25]
    ], states: {0 => [:running, 60, nil, true, "puma srv tp 001"], 1 => [:released, 37, nil, true, "puma srv tp 002"],
                2 => [:released, 50, nil, false, "other"]})
    holders = process.holders(lane("puma srv tp 001", process), 10 * MS, 60 * MS)
    told = holders.map { |lane, work, ns| [lane.name, work, ns.fdiv(MS).round(3)] }
    assert_equal [["puma srv tp 002", "(other)", 20.0], ["other", nil, 14.0], ["puma srv tp 002", nil, 1.0]], told
  end

  test "lanes that were full end there" do
    process = write([[:cycle, "db", 0, 0, 10, 20, 25]], full_ms: 40, states: {0 => [:running, 25, nil, true, "puma srv tp 001"]})
    assert_equal [true, 40 * MS, ["held", 10.0, "db", 10.0, "gvl_wait", 5.0, "held", 15.0]], [process.full, process.duration_ns, steps(process.lanes.first)]
  end

  test "a record of a part that there is not is damage, and there are no lanes" do
    write([[:cycle, "idle", 0, 0, 1, 2, 3]])
    assert LaneReader.new(@path).any?
    File.open(@path, "r+b") do |file|
      file.pwrite([Parts::STEPS.size].pack("C"), LAYOUT[:lanes_offset] + LAYOUT[:lane_records_offset] + 1)
    end
    assert_empty LaneReader.read_all([@path])
  end

  test "what is no ledger is left as it is, and no link is followed, as root may be shown another user's files" do
    run_script("") # another's ledger
    File.write(notes = File.join(@folder, "notes"), "x" * 200)
    begins = -> { [@path, notes].map { |path| File.binread(path, 4_096) } }
    before = begins.call
    links = [@path, notes].map { |path| "#{path}.link".tap { |link| File.symlink(path, link) } }
    [notes, *links].each { |path| [LaneReader.order(path), Ledger.begin_window(path)] }
    assert_equal before, begins.call
  end

  test "without an order, or with one that was not followed, there are none" do
    write([], order: 8)
    refute LaneReader.new(@path).any?
    File.unlink(@path)
    run_script("C.sweep")
    refute LaneReader.new(@path).any?
    refute LaneReader.new(File.join(@folder, "none")).any?
    assert_empty LaneReader.read_all([@path, File.join(@folder, "none"), File.join(@folder, "some.json")])
    assert_nil LaneReader.order(File.join(@folder, "none"))
  end

  # The clock's totals are the truth here: they are added up in other code, of the same stamps. Threads rest before and
  # after, so that both tell of the same time, however busy the machine is.
  test "what threads did is recorded, and the sums are those that the clock adds up" do
    out = run_script(<<~RUBY)
      require "json"
      mutex, done = Mutex.new, Queue.new
      turns, turn = IO.pipe # who waits there is idle
      names = (1..5).map { |number| format("puma srv tp %03d", number) }
      threads = names.map do |name|
        Thread.new do
          Thread.current.name = name
          while turns.sysread(1)
            C.request_begin
            mutex.synchronize { sleep 0.002 }
            spin(0.003)
            Array.new(2_000) { +"x" }
            IO.select(nil, nil, nil, 0.001)
            C.request_end(ENTRY, nil, nil)
            done << true
          end
        end
      end
      rest = ->(count) { sleep 0.001 until done.size == count && threads.all?(&:stop?) }
      totals = -> { threads.map { |thread| C.totals(thread) } }
      turn.syswrite("x" * 5)
      rest.call(5)
      order(60)
      C.sweep
      before = totals.call
      turn.syswrite("x" * 40)
      rest.call(45)
      after = totals.call
      process = Probe::LaneReader.new(PATH).lanes
      sums = before.zip(after).map { |one, two| Probe::Parts::TOTALS.zip(two.zip(one).map { |now, was| now - was }).to_h }
      puts JSON.generate(clock: sums, works: process.works, lanes: process.lanes.map(&:to_document))
    RUBY
    told = JSON.parse(out)
    lanes = told["lanes"].map { |fields| Lane.from_document(fields) }
    pool = lanes.select(&:serves_requests)
    assert_equal (1..5).map { |number| format("puma srv tp %03d", number) }, pool.map(&:name)
    assert_equal ["GET /work"], told["works"]
    assert_equal 40, pool.sum { |lane| lane.works.size / 3 }
    assert_equal 1, lanes.select { |lane| lane.from_ns.zero? }.map(&:duration_ns).uniq.size
    pool.zip(told["clock"]) do |lane, clock|
      sums = lane.sums
      assert_equal clock["held"], sums["held"] + sums["gc"].to_i
      assert_equal clock["gc"], sums["gc"].to_i + lane.short_gc_ns
      %w[io lock sleep gvl_wait].each { |kind| assert_equal clock[kind], sums.fetch(kind, 0), kind }
    end
    # One GVL: nobody holds it beside another.
    holds = lanes.flat_map { |lane| lane.each_step.select { |kind, _, _| %w[held gc].include?(kind) }.map { |_, at_ns, ns| [at_ns, at_ns + ns] } }
    assert holds.sort.each_cons(2).all? { |one, two| one.last <= two.first }, "two hold the GVL at once"
    assert_operator pool.sum { |lane| lane.sums["gvl_wait"] }, :>, 100 * MS
  end

  test "garbage collection is seen where it happens" do
    run_script(<<~RUBY)
      thread = Thread.new { Thread.current.name = "collects"; 10.times { GC.start; sleep 0.001 } }
      Thread.pass until thread.stop?
      order(60)
      C.sweep
      thread.join
    RUBY
    collects = read.lanes.find { |lane| lane.steps.include?("gc") && !lane.serves_requests }
    assert_operator collects.steps.count("gc"), :>=, 5
    assert_operator collects.sums["gc"], :>, MS
  end

  test "with no room left the record ends, and says so" do
    run_script("GC.disable; order(50); C.sweep; File.open(File::NULL, 'w') { |null| 70_000.times { null.syswrite('x') } }")
    process = read
    assert process.full
    assert_operator process.duration_ns, :<, 30_000 * MS
    # The one that found no room was not over then, and a busy machine may end a time slice.
    assert_includes LAYOUT[:lane_records_max] - 500..LAYOUT[:lane_records_max] + 1, process.lanes.first.steps.each_slice(2).count { |kind, _| !%w[held gc gvl_wait].include?(kind) }
    assert_equal [process.duration_ns], process.lanes.map(&:duration_ns).uniq
  end

  test "a second order records anew, one of before is not followed again, and a child follows its own" do
    run_script(<<~RUBY)
      order(0.02)
      C.sweep
      sleep 0.05
      first = Probe::LaneReader.new(PATH).lanes
      C.sweep
      sleep 0.05
      abort("the same order was followed twice") unless Probe::LaneReader.new(PATH).lanes.lanes.map(&:steps) == first.lanes.map(&:steps)
      order(10)
      C.sweep
      pid = fork { sleep 0.01; exit!(Probe::LaneReader.new(PATH).any? ? 0 : 1) }
      Process.wait(pid)
      abort("the child has touched it") unless $?.success?
      child = fork do
        C.start && C.open_ledger(PATH + "2", "{}")
        C.sweep
        exit!(Probe::LaneReader.new(PATH + "2").any? ? 1 : 0)
      end
      Process.wait(child)
      abort("the child follows its parent's order") unless $?.success?
      abort("the second order was not followed") unless Probe::LaneReader.new(PATH).left_ns > 9_000_000_000
    RUBY
  end

  test "a process without room for it records requests all the same" do
    run_script(<<~RUBY)
      File.unlink(PATH)
      C.open_ledger(PATH, "{}", 1 << 20)
      order(1)
      C.sweep
      C.job_begin && C.request_end(ENTRY, nil, nil)
      abort("no room, and yet lanes") if Probe::LaneReader.new(PATH).any?
      abort("not recorded") unless Probe::Ledger.read(PATH).entries.values.sum { |entry| entry.counts.first }.positive?
    RUBY
  end
end
