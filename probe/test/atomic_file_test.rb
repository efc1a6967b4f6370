# frozen_string_literal: true

require "test_helper"
require "tmpdir"

class AtomicFileTest < TunerTest
  AtomicFile = PumaTuner::AtomicFile

  test "who reads meanwhile finds the old content or the new, whole" do
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

  test "what can't be written to its end leaves the old content, and nothing else" do
    Dir.mktmpdir do |folder|
      path = File.join(folder, "file")
      AtomicFile.write(path) { |partial| File.write(partial, "old") }
      assert_raises(Interrupt) { AtomicFile.write(path) { |partial| File.write(partial, "ne") && raise(Interrupt) } }
      assert_equal [["file"], "old"], [Dir.children(folder), File.read(path)]
      assert_raises(Errno::ENOENT) { AtomicFile.write(File.join(folder, "none/file"), "new") }
    end
  end
end
