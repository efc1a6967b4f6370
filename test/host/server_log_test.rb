# frozen_string_literal: true

require "test_helper"
require "tmpdir"

class ServerLogTest < TunerTest
  ServerLog = PumaTuner::Host::ServerLog

  # Any file that is written there finds no space.
  FULL = "/dev/full"

  test "where no space is left, a server's output is read all the same, and its last lines are told" do
    skip "no #{FULL} here" unless File.chardev?(FULL)
    echo = StringIO.new
    log = ServerLog.new(FULL, echo:)
    log.release
    # Far more than a pipe holds.
    20_000.times { |number| log.writer.puts("line #{number}") }
    log.writer.close
    log.finish
    given_up = "(kept in memory since there was no place for it: No space left on device)"
    assert_equal ["line 19999", given_up], log.tail.last(2)
    assert_equal 20_000, echo.string.lines.size
    short = ServerLog.new(FULL)
    short.writer.puts("one", "two")
    short.writer.close
    short.finish
    assert_equal ["one", "two", given_up], short.tail
  end

  test "where nobody takes a server's output any more it is read and kept all the same" do
    reader, echo = IO.pipe
    reader.close
    Dir.mktmpdir do |folder|
      log = ServerLog.new(File.join(folder, "server.log"), echo:)
      log.writer.puts("before it served")
      log.release
      # Far more than a pipe holds.
      20_000.times { |number| log.writer.puts("line #{number}") }
      log.writer.close
      log.finish
      assert_equal "line 19999", log.tail.last
    end
  ensure
    echo&.close
  end

  test "a log that can't be opened is kept in memory alone" do
    log = ServerLog.new("/nowhere/server.log")
    log.writer.puts("one")
    log.writer.close
    log.finish
    assert_equal ["one", "(kept in memory since there was no place for it: No such file or directory)"], log.tail
  end

  test "a line that never ends is passed on and kept in pieces" do
    echo = StringIO.new
    Dir.mktmpdir do |folder|
      log = ServerLog.new(File.join(folder, "server.log"), echo:)
      log.release
      log.writer.write("." * (ServerLog::LINE_BYTES_MAX + 1))
      wait_until("the pieces") { echo.string.size >= ServerLog::LINE_BYTES_MAX }
      log.writer.close
      log.finish
      assert_equal ServerLog::LINE_BYTES_MAX + 1, echo.string.size
      assert_match(/\A\.+\z/, log.tail.last)
    end
  end

  test "of a long output the beginning is thrown away, and the end is told" do
    Dir.mktmpdir do |folder|
      log = ServerLog.new(File.join(folder, "server.log"))
      line = "x" * 99
      ((ServerLog::BYTES_MAX + 1_000) / 100).times { log.writer.puts(line) }
      log.writer.puts("the end")
      log.writer.close
      log.finish
      assert_equal "the end", log.tail.last
      assert_operator Dir[File.join(folder, "*")].sum { |path| File.size(path) }, :<=, ServerLog::BYTES_MAX
    end
  end
end
