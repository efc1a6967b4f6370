# frozen_string_literal: true

require "test_helper"
require "open3"
require "tmpdir"

# Commits of a repository that is no part of this one: fetched once, checked out each by itself, and told of where they can't be had.
class LabSourceTest < TunerTest
  include PumaTuner

  time_limit 120

  # @yieldparam address [String] of a repository with two commits
  # @yieldparam commits [Array<String>] whole names
  def with_repository
    Dir.mktmpdir do |folder|
      before, ENV["PUMA_TUNER_CACHE"] = ENV["PUMA_TUNER_CACHE"], File.join(folder, "cache")
      address = File.join(folder, "authors")
      git("init", "--quiet", address, at: folder)
      commits = %w[one two].map do |text|
        File.write(File.join(address, "said.rb"), "puts #{text.dump}\n")
        # As many an author's: not ours to install.
        File.write(File.join(address, "Gemfile"), "raise 'nobody asked for it'\n")
        git("add", ".", at: address)
        git("-c", "user.name=A", "-c", "user.email=a@example.test", "commit", "--quiet", "-m", text, at: address)
        git("rev-parse", "HEAD", at: address)
      end
      yield address, commits
    ensure
      ENV["PUMA_TUNER_CACHE"] = before
    end
  end

  def git(*words, at:)
    output, status = Open3.capture2e("git", "-C", at, *words)
    assert status.success?, output
    output.strip
  end

  def source(address, commits) = Lab::Source.new(name: "authors", address:, commits:, needed_for: "what they said")

  # @return [String] what the file says in a child that runs in this commit
  def said(source, commit)
    variant = Prove::Variant.new(name: "it", factors: {"git" => commit})
    command = Lab::Commands.new(folder: Dir.pwd, variants: [variant], sources: [source]).call(variant)
    Open3.capture2e(command.environment, *command.words, "said.rb", chdir: command.directory, unsetenv_others: true).first.strip
  end

  test "each commit is fetched once, and a variant runs in its own" do
    with_repository do |address, commits|
      source = source(address, commits)
      refute_predicate source, :there?
      assert_match(/labs need|lab setup/, assert_raises(UsageError) { said(source, commits.first) }.message)
      notes = []
      assert_nil source.fetch(say: ->(text) { notes << text })
      assert_equal %w[one two], commits.map { |commit| said(source, commit) }
      assert_nil source.fetch(say: ->(text) { notes << text })
      assert_equal ["fetching 2 commits of #{address}"], notes
    end
  end

  test "a checkout that was interrupted is made anew" do
    with_repository do |address, commits|
      source = source(address, commits)
      source.fetch
      File.delete("#{source.checkout(commits.last)}.ready", "#{source.checkout(commits.last)}/said.rb")
      refute_predicate source, :there?
      assert_nil source.fetch
      assert_equal "two", said(source, commits.last)
    end
  end

  test "what can't be had is told, by its cause, and fails nothing" do
    with_repository do |address, commits|
      assert_match(/git fetch: .*(not our ref|not appear to be|couldn't find)/m, source(address, ["0" * 40]).fetch)
      missing = source("#{address}-elsewhere", commits)
      assert_match(/git fetch: /, missing.fetch)
      refute_predicate missing, :there?
    end
  end
end
