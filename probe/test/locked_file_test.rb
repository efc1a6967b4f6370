# frozen_string_literal: true

require "test_helper"
require "tmpdir"

class LockedFileTest < TunerTest
  LockedFile = PumaTuner::Probe::LockedFile

  time_limit 20

  test "one after the other, and what the block returns" do
    in_folder do |path|
      LockedFile.open(path, File::LOCK_EX) { |file| file.write("first") }
      assert_equal "first", LockedFile.open(path, File::LOCK_SH, &:read)
    end
  end

  test "an error lets the next one in" do
    in_folder do |path|
      assert_raises(RuntimeError) { LockedFile.open(path, File::LOCK_EX) { raise "on purpose" } }
      assert free?(path)
    end
  end

  test "a process forked meanwhile does not keep it" do
    in_folder do |path|
      reader, writer = IO.pipe
      pid = LockedFile.open(path, File::LOCK_EX) do
        refute free?(path)
        fork do
          writer.close
          reader.read
          exit!(0)
        end
      end
      assert free?(path)
    ensure
      [reader, writer].each(&:close)
      Process.wait(pid)
    end
  end

  private

  def in_folder = Dir.mktmpdir { |folder| yield File.join(folder, "lock") }

  def free?(path) = File.open(path, File::RDWR | File::CREAT) { |file| file.flock(File::LOCK_EX | File::LOCK_NB) } == 0
end
