# frozen_string_literal: true

require "test_helper"
require "open3"
require "rubygems/package"
require "tmpdir"
require_relative "../../rakelib/release"

# What `rake release:build` makes.
class ReleaseTest < TunerTest
  PROJECT = File.expand_path("../..", __dir__)

  time_limit 400

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

  test "both gems are built of what is committed, from source and precompiled, tried, and have checksums that fit" do
    Dir.mktmpdir do |folder|
      made = Release.new(PROJECT, into: folder, rubies: [RbConfig.ruby]).build
      names = ["", "-x86_64-linux-gnu"].product(%w[puma_tuner-probe puma_tuner]).map { |suffix, name| "#{name}-#{PumaTuner::VERSION}#{suffix}.gem" }
      assert_equal names + %w[SHA256SUMS SHA512SUMS], made.map { |path| File.basename(path) }
      {"SHA256SUMS" => "sha256sum", "SHA512SUMS" => "sha512sum"}.each do |file, program|
        told, status = Open3.capture2e(program, "--check", "--strict", file, chdir: folder)
        assert status.success?, told
        assert_equal 4, told.scan(/: OK$/).size
      end
      committed_s = `git -C #{PROJECT} show --no-patch --format=%ct HEAD`.to_i
      assert_precompiled(*made[2, 2])
      made.first(4).each { |path| assert_equal Time.at(committed_s).utc.strftime("%F"), Gem::Package.new(path).spec.date.strftime("%F") }
    end
  end

  # Their extensions are for this Ruby alone, hold no path of the machine that compiled them, and are all there is for RubyGems to do.
  def assert_precompiled(probe, command)
    own = RUBY_VERSION[/\A\d+\.\d+/]
    {probe => ["lib/puma_tuner/probe/native/#{own}/puma_tuner_probe.so"], command => %w[load sim].map { |name| "lib/puma_tuner/native/#{own}/puma_tuner_#{name}.so" }}.each do |path, compiled|
      package = Gem::Package.new(path)
      assert_equal compiled, package.contents.grep(/\.so\z/)
      assert_empty package.spec.extensions
      assert package.spec.required_ruby_version.satisfied_by?(Gem::Version.new(RUBY_VERSION))
      refute package.spec.required_ruby_version.satisfied_by?(Gem::Version.new("#{own.to_f + 0.1}.0"))
      Dir.mktmpdir do |folder|
        package.extract_files(folder)
        compiled.each { |file| refute_match(/puma_tuner-release|#{Regexp.escape(Dir.tmpdir)}/, File.binread(File.join(folder, file))) }
      end
    end
  end

  test "packages that differ when they are built again are none" do
    release = Class.new(Release) do
      define_method(:packages_in) do |folder|
        FileUtils.mkdir_p(folder)
        ["#{folder}/a.gem"].each { |path| File.write(path, path) }
      end
    end
    error = assert_raises(Release::Failed) { Dir.mktmpdir { |folder| release.new(PROJECT, into: folder, rubies: []).build } }
    assert_equal "a.gem is another one when it is built again", error.message
  end

  test "a version of Ruby that is missing between two is no span that a package may promise" do
    precompiled = Class.new(Release::Precompiled) { define_singleton_method(:version) { |ruby, *| ruby } }
    assert_equal %w[3.3 3.5], precompiled.new("", %w[3.4 3.3]).send(:span)
    error = assert_raises(Release::Failed) { precompiled.new("", %w[3.3 3.5]).send(:span) }
    assert_equal "there is no Ruby between 3.3 and 3.5 to compile for", error.message
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
