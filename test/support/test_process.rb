# frozen_string_literal: true

require "minitest"
require "support/last_lines"

# A process that runs the tests of one file and tells what comes of them. It leads a process group, which the commands that its tests start are in, too.
class TestProcess
  # For a test beyond its own limit, which it keeps by itself where Ruby still runs, and for all that is not in a test.
  GRACE_S = 60

  # Stands for an error whose class the other process may not know.
  class ToldError < StandardError
    # @return [String] that error's, for whoever tells of it
    attr_reader :class

    # @param error [Exception]
    def initialize(error)
      super(error.message)
      @class = error.class.to_s
      set_backtrace(error.backtrace)
    end
  end

  # Minitest's reporter in that process.
  class Teller < Minitest::AbstractReporter
    def initialize(pipe)
      super()
      @pipe = pipe
    end

    def prerecord(test_class, name) = tell(:begins, test_class.name, name, test_class.new(name).time_limit_s)

    def record(result)
      result.failures.each { |failure| failure.error = ToldError.new(failure.error) if failure.is_a?(Minitest::UnexpectedError) }
      tell(:ends, result)
    end

    def report = tell(:finished)

    private

    def tell(*message)
      bytes = Marshal.dump(message)
      @pipe.write([bytes.bytesize].pack("L"), bytes)
    end
  end

  attr_reader :pipe, :file

  # @return [Float, nil] seconds of CPU that it took with all that it started and waited for; nil while it runs
  attr_reader :cpu_s

  # @param file [TestFile]
  # @param arguments [Array<String>] for Minitest
  def initialize(file, arguments, grace_s: GRACE_S)
    @file = file
    @grace_s = grace_s
    @test_class = file.name
    @test = "as it is loaded"
    @told = "".b
    give_time(0)
    @pipe, writer = IO.pipe(binmode: true)
    @pid = fork { run(arguments, writer) }
    writer.close
  end

  # Takes what was told, without waiting.
  #
  # @yieldparam result [Minitest::Result]
  # @return [Boolean] whether the process has come to its end
  def listen(&)
    status = waited
    read
    take(&)
    if status
      yield failure("ended by #{status.to_s.sub(/\Apid \d+ /, "")}") unless @finished && status.exited?
    elsif now_s > @deadline_s
      stop(:KILL)
      yield failure("did not end in time, and was killed")
    else
      return false
    end
    @pipe.close
    true
  end

  # @param signal [Symbol] INT, which its group gets, as from a terminal; or KILL, with all processes below it
  def stop(signal)
    return Process.kill(signal, -@pid) unless signal == :KILL
    PumaTuner::Probe::Processes.tree_of(@pid).each { |pid| kill(pid) }
    Process.wait(@pid)
  rescue Errno::ESRCH
    nil
  end

  private

  # @return [Process::Status, nil] nil while it runs
  def waited
    before_s = children_cpu_s
    status = Process.wait2(@pid, Process::WNOHANG)&.last
    @cpu_s = children_cpu_s - before_s if status
    status
  end

  def children_cpu_s = Process.times.then { |times| times.cutime + times.cstime }

  def now_s = Process.clock_gettime(Process::CLOCK_MONOTONIC)

  def give_time(limit_s) = @deadline_s = now_s + limit_s + @grace_s

  def kill(pid)
    Process.kill(:KILL, pid)
  rescue Errno::ESRCH
    nil
  end

  # Minitest runs the tests as this process ends.
  def run(arguments, writer)
    Process.setpgrp
    $stdin.reopen(File::NULL)
    @pipe.close
    teller = Teller.new(writer)
    Minitest.extensions.delete(LastLines)
    Minitest.register_plugin(Module.new { define_singleton_method(:minitest_plugin_init) { |_| Minitest.reporter.reporters.replace([teller]) } })
    ARGV.replace(arguments)
    require @file.path
  rescue ScriptError, StandardError => error
    teller.record(result(Minitest::UnexpectedError.new(error)))
    teller.report
    exit!
  end

  def read
    loop { @told << @pipe.read_nonblock(1 << 16) }
  rescue IO::WaitReadable, EOFError
    nil
  end

  def take
    while @told.bytesize >= 4 && @told.bytesize >= 4 + (size = @told.unpack1("L"))
      event, *facts = Marshal.load(@told.slice!(0, 4 + size).byteslice(4..))
      case event
      when :begins
        @test_class, @test, limit_s = facts
        give_time(limit_s)
      when :ends
        yield facts.first
        give_time(0)
      when :finished then @finished = true
      end
    end
  end

  # @param what [String] became of the process
  def failure(what) = result(Minitest::Assertion.new("the process of #{@file.name} #{what}"))

  def result(failure)
    Minitest::Result.new(@test).tap do |result|
      result.klass = @test_class
      result.time = 0
      result.source_location = [@file.path, 1]
      result.failures = [failure]
    end
  end
end
