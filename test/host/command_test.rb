# frozen_string_literal: true

require "test_helper"
require "tmpdir"

# The command that starts an app, by where its Gemfile lies, and the name of its folder.
class CommandTest < TunerTest
  include PumaTuner

  PROJECT = File.expand_path("../..", __dir__)

  def setup
    @folder = File.realpath(Dir.mktmpdir("puma_tuner-test"))
    FileUtils.mkdir_p(File.join(@folder, "test/dummy"))
    write("test/dummy/config.ru")
  end

  def teardown
    FileUtils.remove_entry(@folder)
  end

  def write(path) = File.write(File.join(@folder, path), "")

  # @return [Array<String>] the words before the rackup file
  def words(path = File.join(@folder, "test/dummy/config.ru")) = Host::Command.of_rackup(path).words[..-2]

  WITH_OURS = [Gem.ruby, "-S", "puma"].freeze
  WITH_ITS_OWN = %w[bundle exec puma].freeze

  test "an app runs with the Gemfile or gems.rb of its folder or one above it, else with our gems" do
    assert_equal WITH_OURS, words
    %w[Gemfile test/gems.rb test/dummy/Gemfile test/dummy/gems.rb].each do |path|
      write(path)
      assert_equal WITH_ITS_OWN, words, path
      assert_equal File.join(@folder, path), Host::AppGemfile.of(File.join(@folder, "test/dummy"))
    end
  end

  test "what lies below this project's own Gemfile runs with our gems, unless it has one itself" do
    assert_path_exists File.join(PROJECT, "Gemfile")
    assert_equal WITH_OURS, words(File.join(PROJECT, "labs/05-threads-against-io/config.ru"))
    assert_equal WITH_ITS_OWN, words(File.join(PROJECT, "labs/03-yjit/oauth/config.ru"))
  end

  test "BUNDLE_GEMFILE goes before what lies there, and is read from the app's folder" do
    write("test/dummy/Gemfile")
    dummy = File.join(@folder, "test/dummy")
    assert_equal [File.join(@folder, "gemfiles/a.gemfile"), "/b.gemfile", File.join(dummy, "Gemfile")],
      ["../../gemfiles/a.gemfile", "/b.gemfile", ""].map { |named| Host::AppGemfile.of(dummy, named) }
    assert_nil Host::AppGemfile.of(dummy, File.join(PROJECT, "Gemfile"))
  end

  test "a BUNDLE_GEMFILE of a user who is not there is a mistake, told with the variable" do
    error = assert_raises(UsageError) { Host::AppGemfile.of(@folder, "~nobody-of-that-name/Gemfile") }
    assert_match(%r{\ABUNDLE_GEMFILE=~nobody-of-that-name/Gemfile: .*; give another path\z}, error.message)
  end

  test "a BUNDLE_GEMFILE of the user's shell counts for an app that has no Gemfile" do
    variable = "#{Host::UserEnvironment::KEPT}BUNDLE_GEMFILE"
    ENV[variable] = "gemfiles/a.gemfile"
    assert_equal [WITH_ITS_OWN, "gemfiles/a.gemfile"], [words, Host::UserEnvironment.gemfile]
    assert_equal WITH_OURS, Host::Command.with_our_gems(File.join(@folder, "test/dummy/config.ru")).words[..-2]
  ensure
    ENV.delete(variable)
  end

  def folder_name(directory) = Host::Command.new(words: ["puma"], directory:, environment: {}).folder_name

  test "releases of an app, the link to the newest, and the app's own folder have one name" do
    assert_equal %w[shop], %w[/srv/shop /srv/shop/current /srv/shop/releases/20260102030405].map { |path| folder_name(path) }.uniq
    assert_equal %w[blog releases], %w[/srv/blog /srv/releases].map { |path| folder_name(path) }
    assert_equal File.basename(Dir.pwd), folder_name(".")
  end
end
