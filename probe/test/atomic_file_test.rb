# frozen_string_literal: true

require "test_helper"
require "open3"
require "tmpdir"
require "support/encodings"

class AtomicFileTest < TunerTest
  include Encodings

  AtomicFile = PumaTuner::AtomicFile

  test "a reader finds either the whole old content or the whole new one" do
    Dir.mktmpdir do |folder|
      path = File.join(folder, "file")
      contents = %w[a b].map { |letter| letter * 100_000 }
      AtomicFile.write(path, contents.first)
      writing = Thread.new { 200.times { |number| AtomicFile.write(path, contents[number % 2]) } }
      found = []
      found << File.binread(path) while writing.alive?
      assert_empty found.uniq - contents
      assert_equal ["file"], Dir.children(folder)
    end
  end

  test "a write that fails leaves the old content, and no other file" do
    Dir.mktmpdir do |folder|
      path = File.join(folder, "file")
      AtomicFile.write(path) { |partial| File.write(partial, "old") }
      assert_raises(Interrupt) { AtomicFile.write(path) { |partial| File.write(partial, "ne") && raise(Interrupt) } }
      assert_equal [["file"], "old"], [Dir.children(folder), File.read(path)]
      assert_raises(Errno::ENOENT) { AtomicFile.write(File.join(folder, "none/file"), "new") }
    end
  end

  test "bytes that are no text are written as they are, also where Rails has set an internal encoding" do
    Dir.mktmpdir do |folder|
      path = File.join(folder, "file")
      script = "Encoding.default_internal = Encoding::UTF_8; PumaTuner::AtomicFile.write(ARGV[0], Marshal.dump(200))"
      _, said, status = Open3.capture3(RbConfig.ruby, "-r", AtomicFile.method(:write).source_location.first, "-e", script, path)
      assert_predicate status, :success?, said
      assert_equal Marshal.dump(200), File.binread(path)
    end
  end

  test "what has more than is wanted is not read further, be it a file, a pipe or a device without end" do
    Dir.mktmpdir do |folder|
      path = File.join(folder, "file")
      File.write(path, "é" * 3)
      assert_equal ["é" * 3, Encoding::UTF_8], AtomicFile.read_at_most(path, 6).then { |text| [text, text.encoding] }
      assert_nil AtomicFile.read_at_most(path, 5)
      File.truncate(path, 1 << 40)
      assert_nil AtomicFile.read_at_most(path, 6)
      assert_nil AtomicFile.read_at_most("/dev/zero", 3 << 20)
      assert_equal "", AtomicFile.read_at_most(File::NULL, 0)
      assert_equal File.read("/proc/self/cmdline").b, AtomicFile.read_at_most("/proc/self/cmdline", 1 << 20).b, "which says that it has no bytes"
      assert_equal [2 << 20, nil], [2 << 20, (2 << 20) + 1].map { |size| through_pipe(size, 2 << 20)&.bytesize }
      assert_raises(Errno::ENOENT) { AtomicFile.read_at_most(File.join(folder, "none"), 6) }
    end
  end

  # What is read of a pipe that holds so many bytes.
  def through_pipe(size, most_bytes)
    from, to = IO.pipe
    writing = Thread.new do
      to.write("x" * size)
    rescue Errno::EPIPE
      nil
    ensure
      to.close
    end
    AtomicFile.read_at_most("/dev/fd/#{from.fileno}", most_bytes)
  ensure
    from.close
    writing.join
  end

  test "what is read is UTF-8, whatever encoding files have for the process" do
    Dir.mktmpdir do |folder|
      path = File.join(folder, "file")
      File.binwrite(path, NAME)
      script = "text = PumaTuner::AtomicFile.read(ARGV[0]); p text == NAME, text.encoding"
      assert_equal ["true\n#<Encoding:UTF-8>"], in_each_encoding("require 'puma_tuner/probe'; #{script}", path).uniq
    end
  end
end
