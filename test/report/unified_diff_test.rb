# frozen_string_literal: true

require "test_helper"
require "open3"
require "tmpdir"

class UnifiedDiffTest < TunerTest
  include PumaTuner

  def diff(before, after) = Report::UnifiedDiff.new("it.rb", before, after).to_s

  test "a changed line stands between three lines of either side" do
    before = (1..20).map { |number| "#{number}\n" }.join
    expected = "--- a/it.rb\n+++ b/it.rb\n@@ -7,7 +7,7 @@\n 7\n 8\n 9\n-10\n+ten\n 11\n 12\n 13\n"
    assert_equal expected, diff(before, before.sub("10\n", "ten\n"))
    assert_equal "", diff(before, before)
  end

  test "a new file and an end without a newline are told as diff does" do
    assert_equal "--- /dev/null\n+++ b/it.rb\n@@ -0,0 +1 @@\n+a\n", diff(nil, "a\n")
    assert_equal "--- a/it.rb\n+++ b/it.rb\n@@ -1 +1,2 @@\n-a\n\\ No newline at end of file\n+a\n+b\n", diff("a", "a\nb\n")
  end

  test "git makes of the first text the second with it" do
    random = Random.new(1)
    20.times do
      before, after = Array.new(2) { Array.new(random.rand(0..30)) { "#{random.rand(5)}\n" }.join }
      next if before == after
      assert_equal after, applied(before, diff(before, after))
    end
  end

  # @return [String] what git makes of the text
  def applied(before, diff)
    Dir.mktmpdir do |folder|
      File.write(File.join(folder, "it.rb"), before)
      out, status = Open3.capture2e("git", "apply", "--unidiff-zero", "-", stdin_data: diff, chdir: folder)
      assert_predicate status, :success?, out + diff
      File.read(File.join(folder, "it.rb"))
    end
  end
end
