# frozen_string_literal: true

require "test_helper"
require "open3"
require "rubygems/package"
require "tmpdir"
require_relative "../../rakelib/release"

# What `rake release:build` makes.
class ReleaseTest < TunerTest
  PROJECT = File.expand_path("../..", __dir__)

  time_limit 170

  # @yieldparam git [#call] in a repository that has a version and this changelog
  def repository(changelog)
    Dir.mktmpdir do |folder|
      {"CHANGELOG.md" => changelog, Release::VERSION_FILE => "module PumaTuner\n  VERSION = \"0.2.0\"\nend\n"}.each do |name, text|
        FileUtils.mkdir_p(File.dirname("#{folder}/#{name}"))
        File.write("#{folder}/#{name}", text)
      end
      git = ->(*words) { assert system("git", "-C", folder, "-c", "user.name=A", "-c", "user.email=a@example.org", *words, out: File::NULL) }
      git.call("init", "--quiet")
      git.call("add", "--all")
      git.call("commit", "--quiet", "--message", "First")
      yield folder
    end
  end

  test "both gems are built of what is committed, tried, and have checksums that fit" do
    Dir.mktmpdir do |folder|
      made = Release.new(PROJECT, into: folder).build
      version = PumaTuner::VERSION
      assert_equal %w[puma_tuner-probe puma_tuner].map { |name| "#{name}-#{version}.gem" } + %w[SHA256SUMS SHA512SUMS], made.map { |path| File.basename(path) }
      {"SHA256SUMS" => "sha256sum", "SHA512SUMS" => "sha512sum"}.each do |file, program|
        told, status = Open3.capture2e(program, "--check", "--strict", file, chdir: folder)
        assert status.success?, told
        assert_equal 2, told.scan(/: OK$/).size
      end
      committed_s = `git -C #{PROJECT} show --no-patch --format=%ct HEAD`.to_i
      made.first(2).each { |path| assert_equal Time.at(committed_s).utc.strftime("%F"), Gem::Package.new(path).spec.date.strftime("%F") }
    end
  end

  test "a changelog without the version's date is no release's" do
    repository("# Changelog\n\n## Unreleased\n") { |folder| assert_match(/\ACHANGELOG.md has no heading "## 0.2.0/, Release.new(folder).unfinished) }
    repository("# Changelog\n\n## 0.2.0 (2026-12-01)\n") { |folder| assert_nil Release.new(folder).unfinished }
  end

  test "what does not build fails, and says why" do
    repository("") do |folder|
      error = assert_raises(Release::Failed) { Release.new(folder, into: "#{folder}/pkg").build }
      assert_match(/gem build puma_tuner-probe.gemspec/, error.message)
    end
  end
end
