# frozen_string_literal: true

require "minitest"

# Of a long run the end is what is read, and often all that is kept. So it ends with the slowest tests, then those that passed only when they
# were run again and each failed one in a few lines, then the one line of the sum; what was told of each failure in full stands before.
class LastLines < Minitest::SummaryReporter
  SLOWEST_COUNT = 20

  # Of each failure's message: a difference begins at the fourth.
  MESSAGE_LINES_COUNT = 5
  LINE_LENGTH = 200

  # Minitest asks its extensions before a run.
  def self.minitest_plugin_init(options)
    reporters = Minitest.reporter.reporters
    reporters[reporters.index { |reporter| reporter.instance_of?(Minitest::SummaryReporter) }] = new(options[:io], options)
  end

  def record(result)
    super
    (@times ||= []) << [result.time, "#{result.class_name}##{result.name}"]
  end

  # @param result [Minitest::Result] of the first time, which failed
  def passed_again(result) = (@passed_again ||= []) << result

  def aggregated_results(io)
    super
    io.puts("Slowest:", slowest, "")
    io.puts("Passed when run again, alone; at first it said:", @passed_again.map { |result| in_short(result) }, "") if @passed_again
    failed = results.reject(&:skipped?)
    io.puts("Failed:", failed.map { |result| in_short(result) }, "") if failed.any?
    io
  end

  # On a machine that does other things, too, the CPU time of a run tells more than how long it took.
  def statistics
    times = Process.times
    "#{super} CPU, with all that was started: #{(times.utime + times.stime + times.cutime + times.cstime).round(1)} s."
  end

  # Without Minitest's hint at skips, which AllowedSkips looks after.
  def summary = super.lines(chomp: true).first

  private

  def slowest = @times.to_a.max_by(SLOWEST_COUNT, &:first).map { |seconds, name| format("%7.1f s  %s", seconds, name) }

  def in_short(result)
    failure = result.failure
    error = failure.error
    message = error.equal?(failure) ? failure.message : "#{error.class}: #{error.message}"
    ["  #{result.class_name}##{result.name} at #{place(result)}", *message.lines(chomp: true).first(MESSAGE_LINES_COUNT).map { |line| "    #{line[0, LINE_LENGTH]}" }]
  end

  # Where in its own file it came to its end, wherever the error was raised; else where it begins.
  def place(result)
    path, line = result.source_location
    own = result.failure.backtrace.to_a.find { |frame| frame.start_with?("#{path}:") }
    (own ? own[/\A.*?:\d+/] : "#{path}:#{line}").delete_prefix("#{Dir.pwd}/")
  end
end

Minitest.register_plugin(LastLines)
