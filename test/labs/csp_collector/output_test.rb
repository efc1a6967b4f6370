# frozen_string_literal: true

require_relative "lab"

class CspOutputTest < TunerTest
  # Each names its writer, and how long it is.
  def long_line(name, bytes) = "#{JSON.generate("name" => name, "text" => "x" * (bytes - name.to_s.bytesize - 24))}\n"

  def in_file
    Dir.mktmpdir do |folder|
      path = File.join(folder, "lines")
      File.open(path, "a") { |file| yield file, path }
    end
  end

  # @return [Array(IO, IO, Thread)] reader, writer, and who reads on
  def drained_pipe
    reader, writer = IO.pipe
    [reader, writer, Thread.new { reader.read }]
  end

  def assert_refused(reason)
    error = assert_raises(CspCollector::Refused) { yield }
    assert_equal [503, reason], [error.status, error.reason]
  end

  # @return [Integer] a process that succeeds if the block does, and runs nothing else of the tests
  def in_child
    fork do
      yield
      exit!(true)
    ensure
      exit!(false)
    end
  end

  def write_from_threads(output)
    Array.new(8) { |thread| Thread.new { 60.times { |number| output.write(long_line("#{thread}-#{number}", 4_100 + number * 150)) } } }.each(&:join)
  end

  def assert_whole(text)
    names = text.lines.reject { |line| line == "\n" }.map { |line| JSON.parse(line)["name"] }
    assert_equal 480, names.size
    assert_equal 480, names.uniq.size
    8.times { |thread| assert_equal Array.new(60) { |number| "#{thread}-#{number}" }, names.grep(/\A#{thread}-/) }
  end

  test "long lines of eight threads are whole and in order, in a file and in a pipe" do
    in_file do |file, path|
      write_from_threads(CspCollector::Output.new(file))
      assert_whole(File.read(path))
    end
    _, writer, reading = drained_pipe
    write_from_threads(CspCollector::Output.new(writer, wait_limit_s: 30))
    writer.close
    assert_whole(reading.value)
  end

  test "long lines of several processes on one pipe are whole" do
    _, writer, reading = drained_pipe
    output = CspCollector::Output.new(writer, wait_limit_s: 30)
    pids = Array.new(4) do |process|
      in_child { 50.times { |number| output.write(long_line("#{process}-#{number}", 20_000), shared: true) } }
    end
    pids.each { |pid| assert Process.wait2(pid).last.success? }
    writer.close
    names = reading.value.lines.reject { |line| line == "\n" }.map { |line| JSON.parse(line)["name"] }
    assert_equal 200, names.uniq.size
  end

  test "a write that takes a part only is completed" do
    in_file do |file, path|
      file.define_singleton_method(:syswrite) { |text| super(text.byteslice(0, 7)) }
      CspCollector::Output.new(file).write("#{"a" * 20}\n#{"b" * 20}\n")
      assert_equal "#{"a" * 20}\n#{"b" * 20}\n", File.read(path)
    end
  end

  test "a disk that fills up in the middle of a line costs that line, not the next" do
    in_file do |file, path|
      room = [10, 0]
      file.define_singleton_method(:syswrite) { |text| (room.empty? || (bytes = room.shift).positive?) ? super(text.byteslice(0, bytes || text.bytesize)) : raise(Errno::ENOSPC) }
      output = CspCollector::Output.new(file)
      assert_refused("output_full") { output.write("#{"a" * 20}\n") }
      refute output.working?
      output.write("b\n")
      output.write("c\n")
      assert output.working?
      assert_equal "#{"a" * 10}\nb\nc\n", File.read(path)
    end
  end

  # By the kernel itself: a limit on the size of files makes it take a part of a line, and then nothing.
  test "a write that the kernel cuts off is refused, and the line ended" do
    in_file do |file, path|
      pid = in_child do
        trap("XFSZ", "IGNORE")
        output = CspCollector::Output.new(file)
        Process.setrlimit(:FSIZE, 150, Process.getrlimit(:FSIZE).last)
        output.write("#{"a" * 99}\n")
        assert_refused("output_full") { output.write("#{"b" * 99}\n") }
        assert_refused("output_full") { output.write("#{"c" * 99}\n") }
        Process.setrlimit(:FSIZE, Process.getrlimit(:FSIZE).last)
        output.write("#{"d" * 99}\n")
      end
      assert Process.wait2(pid).last.success?
      assert_equal ["a" * 99, "b" * 50, "d" * 99], File.readlines(path, chomp: true)
    end
  end

  test "a full device is no acceptance" do
    File.open("/dev/full", "w") do |file|
      output = CspCollector::Output.new(file)
      2.times { assert_refused("output_full") { output.write("a\n") } }
      refute output.working?
    end
  end

  test "a reader who has gone is no acceptance" do
    reader, writer = IO.pipe
    reader.close
    assert_refused("output_gone") { CspCollector::Output.new(writer).write("a\n") }
  end

  test "what another has left torn is ended first, and a truncated file is written from its new end" do
    in_file do |file, path|
      File.write(path, "torn")
      output = CspCollector::Output.new(file)
      output.write("a\n")
      assert_equal "torn\na\n", File.read(path)
      File.truncate(path, 0)
      output.write("b\n")
      assert_equal "b\n", File.read(path)
    end
  end

  test "a reader who stands still is waited for once, and served again when it goes on" do
    reader, writer = IO.pipe
    output = CspCollector::Output.new(writer, wait_limit_s: 0.3)
    accepted = []
    began_s = monotonic_s
    error = nil
    100.times do |number|
      output.write(long_line(number, 3_000))
      accepted << number
    rescue CspCollector::Refused => error
      break
    end
    assert_equal "output_stalled", error.reason
    assert_operator monotonic_s - began_s, :>=, 0.3
    # Waiting for each, this would outlast the test's own limit.
    (2 * TIME_LIMIT_S / 0.3).ceil.times { assert_refused("output_stalled") { output.write("x\n") } }
    reading = Thread.new { reader.read }
    assert wait_until("room in the pipe") { again?(output) }
    writer.close
    # What was torn when it stalled is a line of its own.
    names = reading.value.lines.filter_map { |line| line[/\A{"name":"?(\d+|again)"?,"text":"x*"}$/, 1] }
    assert_equal [*accepted.map(&:to_s), "again"], names
  end

  def again?(output)
    output.write(long_line("again", 100))
    true
  rescue CspCollector::Refused
    false
  end

  test "so many may wait, and the next is refused at once" do
    _reader, writer = IO.pipe
    output = CspCollector::Output.new(writer, wait_limit_s: 1, waiting_count: 2)
    writer.write_nonblock("x" * 65_536)
    reasons = Thread::Queue.new
    threads = Array.new(6) do
      Thread.new do
        output.write("a\n")
      rescue CspCollector::Refused => error
        reasons << error.reason
      end
    end
    threads.each(&:join)
    counts = Array.new(6) { reasons.pop }.tally
    assert_equal 6, counts.values.sum
    assert_equal 3, counts["overloaded"], counts
  end
end
