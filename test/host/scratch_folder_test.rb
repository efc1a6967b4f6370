# frozen_string_literal: true

require "test_helper"

class ScratchFolderTest < TunerTest
  ScratchFolder = PumaTuner::Host::ScratchFolder

  test "a folder is there while the block runs, and gone after it, also when it raised" do
    kept = nil
    assert_raises(RuntimeError) do
      ScratchFolder.open do |folder|
        kept = folder
        assert File.directory?(folder)
        raise "anything"
      end
    end
    refute File.exist?(kept)
  end

  test "folders of killed processes are removed, those of living ones are not" do
    reader, writer = IO.pipe
    pid = fork do
      writer.puts(ScratchFolder.make)
      writer.close
      sleep
    end
    theirs = reader.gets.chomp
    ScratchFolder.remove_abandoned(abandoned_after_s: 0)
    assert File.directory?(theirs), "its maker lives"
    Process.kill(:KILL, pid)
    Process.wait(pid)
    ScratchFolder.remove_abandoned(abandoned_after_s: 3_600)
    assert File.directory?(theirs), "it is too young"
    ScratchFolder.remove_abandoned(abandoned_after_s: 0)
    refute File.exist?(theirs)
  ensure
    [reader, writer].each(&:close)
  end

  test "to try how much room there is leaves nothing in memory, though we are killed meanwhile" do
    Dir.mktmpdir do |place|
      assert ScratchFolder.send(:room?, place)
      pid = fork do
        Process.setrlimit(:CORE, 0)
        Process.setrlimit(:FSIZE, 1 << 20)
        trap(:XFSZ, "SYSTEM_DEFAULT")
        ScratchFolder.send(:room?, place)
      end
      assert_equal Signal.list.fetch("XFSZ"), Process.wait2(pid).last.termsig
      assert_empty Dir.children(place)
    end
  end
end
