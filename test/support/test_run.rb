# frozen_string_literal: true

require "etc"
require "support/last_lines"
require "support/test_file"
require "support/test_process"

# Runs files of tests, each in a process of its own, half again as many beside each other as there are cores,
# as most of them wait for servers half of their time; those that are timed come last, one at a time.
# All that they tell is one report. A test of servers or programs that failed is run once more when nothing else runs: where it
# passes then, other work may have disturbed it, and the report names it with what it said at first. One without them may not fail.
class TestRun
  # A run with more failures than that is told as it is: no chance makes so many.
  AGAIN_MAX_COUNT = 8

  # What processes have to end in, when a run is interrupted.
  END_S = 15

  DEAREST_COUNT = 15

  # @param files [Array<TestFile>]
  # @param arguments [Array<String>] for Minitest, such as --name
  # @param for_processes [Hash] see TestProcess
  def initialize(files, arguments: [], processes_count: (Etc.nprocessors * 1.5).ceil, **for_processes)
    options = Minitest.process_args(arguments.dup)
    @files = files
    @seed = options.fetch(:seed).to_s
    @arguments = [*arguments, "--seed", @seed]
    @processes_count = processes_count
    @for_processes = for_processes
    @last_lines = LastLines.new(options.fetch(:io), options)
    @reporter = Minitest::CompositeReporter.new(@last_lines, Minitest::ProgressReporter.new(options.fetch(:io), options))
    @running = []
    @ended = []
    @doubtful = []
    @results_count = 0
  end

  # @return [Integer] exit code; where nothing ran, something went wrong
  def call
    @reporter.start
    timed, others = @files.partition(&:timed?)
    code = interruptible do
      work_off(others, @processes_count)
      work_off(timed, 1)
      try_again if @doubtful.size <= AGAIN_MAX_COUNT
    end
    @doubtful.each { |_, result| record(result) }
    tell_dearest
    @reporter.report
    code || ((@reporter.passed? && @results_count.positive?) ? 0 : 1)
  end

  private

  def work_off(files, processes_count)
    waiting = files.dup
    until waiting.empty? && @running.empty?
      @running << TestProcess.new(waiting.shift, @arguments, **@for_processes) while @running.size < processes_count && waiting.any?
      listen
    end
  end

  def listen
    IO.select(@running.map(&:pipe), nil, nil, 0.1)
    ended, @running = @running.partition { |process| process.listen { |result| hear(process.file, result) } }
    @ended.concat(ended)
  end

  def hear(file, result)
    doubtful?(file, result) ? @doubtful << [file, result] : record(result)
  end

  # Not what became of a process: that it ended or hung is no chance.
  def doubtful?(file, result)
    file.kind != "unit" && !result.passed? && !result.skipped? && result.failure.backtrace.to_a.any?
  end

  # Each leaves @doubtful as it is judged, so that an interruption finds there what is not.
  def try_again
    while (file, first = @doubtful.first)
      again = results_of(TestProcess.new(file, ["--name", "#{first.klass}##{first.name}", "--seed", @seed], **@for_processes))
      @doubtful.shift
      @last_lines.passed_again(first) if again.any? && again.all?(&:passed?)
      (again.empty? ? [first] : again).each { |result| record(result) }
    end
  end

  # @return [Array<Minitest::Result>]
  def results_of(process)
    @running << process
    results = []
    IO.select([process.pipe], nil, nil, 0.1) until process.listen { |result| results << result }
    @running.delete(process)
    results
  end

  # What a run takes on a machine of few cores is mostly CPU.
  def tell_dearest
    dearest = @ended.select(&:cpu_s).max_by(DEAREST_COUNT, &:cpu_s)
    lines = dearest.map { |process| format("%7.1f s  %s", process.cpu_s, process.file.name) }
    puts("", "Most CPU:", lines) if lines.any?
  end

  def record(result)
    @results_count += 1
    @reporter.record(result)
  end

  # @return [Integer, nil] exit code when it was interrupted
  def interruptible
    yield
    nil
  rescue SignalException => signal
    @running.each { |process| process.stop(:INT) }
    deadline_s = Process.clock_gettime(Process::CLOCK_MONOTONIC) + END_S
    listen until @running.empty? || Process.clock_gettime(Process::CLOCK_MONOTONIC) > deadline_s
    @running.each { |process| process.stop(:KILL) }
    128 + signal.signo
  end
end
