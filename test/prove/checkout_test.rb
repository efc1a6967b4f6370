# frozen_string_literal: true

require "test_helper"
require "open3"
require "tmpdir"

# Commits in folders of their own, of repositories as CI has them.
class CheckoutTest < TunerTest
  include PumaTuner

  def setup
    @folder = File.realpath(Dir.mktmpdir("puma_tuner-test"))
    @origin = File.join(@folder, "origin")
    FileUtils.mkdir_p(File.join(@origin, "app"))
    git("init", "--quiet", "--initial-branch=main", at: @origin)
    %w[one two three].each { |text| commit(text) }
  end

  def teardown = FileUtils.rm_rf(@folder)

  def commit(text)
    File.write(File.join(@origin, "app/config.ru"), text)
    git("add", ".", at: @origin)
    git("-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "--quiet", "--message", text, at: @origin)
  end

  def git(*words, at: @folder)
    output, status = Open3.capture2e("git", "-C", at, *words)
    status.success? ? output.strip : flunk("git #{words.join(" ")}: #{output}")
  end

  # @return [String] a clone with the last so many commits, and no branch
  def shallow(count, name = "shallow")
    File.join(@folder, name).tap do |path|
      git("clone", "--quiet", "--depth", count.to_s, "file://#{@origin}", path)
      git("checkout", "--quiet", "--detach", at: path)
      git("branch", "--quiet", "-D", "main", at: path)
      git("remote", "remove", "origin", at: path)
    end
  end

  def checkout(repository, ref) = Prove::Checkout.new(File.join(repository, "app"), ref, into: File.join(@folder, "checkouts"))

  def made(repository, ref) = checkout(repository, ref).tap(&:make)

  def mistake(repository, ref) = assert_raises(UsageError) { checkout(repository, ref) }.message

  # @return [String] the app's file in a checkout
  def text(checkout) = File.read(File.join(checkout.directory, "config.ru"))

  def listing(folder) = Dir.glob("**/*", base: folder, flags: File::FNM_DOTMATCH).sort

  test "a commit is checked out with the repository's objects, which stays as it is" do
    before = listing(@origin)
    found = made(@origin, "main~1")
    assert_equal ["two", git("rev-parse", "main~1", at: @origin)], [text(found), found.commit]
    assert_equal found.commit, git("rev-parse", "HEAD", at: found.directory)
    assert_equal before, listing(@origin)
    assert_empty git("status", "--porcelain", at: found.directory)
  end

  test "a shallow clone without a branch has both commits of a pull request" do
    clone = shallow(2)
    assert_equal %w[two three], %w[HEAD~1 HEAD].map { |ref| text(made(clone, ref)) }
    assert_equal "three", git("log", "-1", "--format=%s", at: made(clone, "HEAD").directory)
  end

  test "a worktree's commits are checked out, too" do
    git("worktree", "add", "--quiet", "--detach", File.join(@folder, "tree"), "main", at: @origin)
    assert_equal "one", text(made(File.join(@folder, "tree"), "HEAD~2"))
  end

  test "a base that is not there is named, with what fetches it" do
    clone = shallow(1)
    assert_match(/\Agit=origin\/main: there is no such commit in .*, which is a shallow clone\. .*: git fetch --depth=1 origin main:refs\/remotes\/origin\/main\z/, mistake(clone, "origin/main"))
    assert_match(/git fetch --unshallow, or in GitHub Actions `fetch-depth: 0`/, mistake(clone, "HEAD~1"))
    assert_match(/git fetch --depth=1 origin abcdef12\z/, mistake(clone, "abcdef12"))
    assert_match(/\Agit=origin\/main: there is no such commit in \S+\. Fetch it before: git fetch origin main/, mistake(@origin, "origin/main"))
    assert_match(/names a commit, branch or tag/, mistake(@origin, "none"))
    assert_match(/git rev-parse failed in .*not a git repository/, assert_raises(UsageError) { Prove::Checkout.new(@folder, "HEAD", into: @folder) }.message)
  end

  test "what the app's folder is not in yet is refused" do
    FileUtils.mkdir_p(File.join(@origin, "later"))
    error = assert_raises(UsageError) { Prove::Checkout.new(File.join(@origin, "later"), "main", into: @folder).make }
    assert_match(/git=main: .*later does not exist at that commit/, error.message)
  end

  test "a checkout that was interrupted is made anew" do
    found = checkout(@origin, "main")
    FileUtils.mkdir_p("#{found.root}.half/.git")
    found.make
    assert_equal "three", text(found)
  end

  # Within a hook of git, these name the repository.
  test "git's own variables do not lead it elsewhere" do
    ENV["GIT_DIR"] = File.join(@folder, "none")
    assert_equal "two", text(made(@origin, "main~1"))
  ensure
    ENV.delete("GIT_DIR")
  end
end
