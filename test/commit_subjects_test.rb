# frozen_string_literal: true

require "test_helper"
require "tmpdir"
require_relative "../rakelib/commit_subjects"

class CommitSubjectsTest < TunerTest
  # @return [Array<String>, nil] of a repository with one commit for each subject, looked at after the first
  def too_long(*subjects, since: nil)
    Dir.mktmpdir do |folder|
      git = ->(*words) { IO.popen(["git", "-C", folder, "-c", "user.name=A", "-c", "user.email=a@example.org", *words], &:read).strip }
      git.call("init", "--quiet")
      subjects.each { |subject| git.call("commit", "--quiet", "--allow-empty", "--message", subject) }
      CommitSubjects.too_long(folder, since: since || git.call("rev-list", "--max-parents=0", "HEAD"))
    end
  end

  test "a subject of more than 72 characters is found, with its commit" do
    found = too_long("First", "a" * 72, "b" * 73)
    assert_equal 1, found.size
    assert_match(/\A\h{7,}: 73 characters: b+\z/, found.first)
  end

  test "a body may be as wide as it likes, and so may commits from before the rule" do
    assert_empty too_long("a" * 100, "Short\n\n#{"b" * 100}")
  end

  test "where the history ends too early, nothing is told" do
    assert_nil too_long("First", since: "75911e2d746604f779166526ad438d7933433156")
  end
end
