# frozen_string_literal: true

require "test_helper"
require "open3"
require "rubygems/package"
require "tmpdir"
require_relative "../../rakelib/release/package_test"

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

  # Precompiled packages have nothing that a debugger reads; without it, the gems that are tried from source compile sooner, too.
  def without_debugging
    before, ENV["MAKEFLAGS"] = ENV["MAKEFLAGS"], "debugflags="
    yield
  ensure
    ENV["MAKEFLAGS"] = before
  end

  test "both gems are built of what is committed, from source and precompiled, tried, and have checksums that fit" do
    Dir.mktmpdir do |folder|
      made = without_debugging { Release.new(PROJECT, into: folder, rubies: [RbConfig.ruby]).build }
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
        compiled.each do |file|
          refute_match(/puma_tuner-release|#{Regexp.escape(Dir.tmpdir)}/, File.binread(File.join(folder, file)))
          needed = Release::Precompiled.glibc(Open3.capture2("readelf", "--version-info", File.join(folder, file)).first)
          assert_operator Gem::Version.new(needed), :<=, Gem::Version.new(Release::Precompiled::GLIBC_MOST), file
        end
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

  test "an extension that needs a newer C library than is promised is not packed, and the page promises the same" do
    assert_equal "2.34", Release::Precompiled.glibc("Name: GLIBC_2.2.5  Flags\nName: GLIBC_2.34\nName: GLIBC_2.4 GCC_9.0\n")
    assert_nil Release::Precompiled.glibc("")
    pack = ->(symbols) { Release::Precompiled.new("", []).send(:ensure_glibc, "x.so", symbols) }
    assert_nil pack.call("GLIBC_2.34 GLIBC_2.14")
    assert_match(/x.so needs glibc 2.38, and the packages promise 2.34/, assert_raises(Release::Failed) { pack.call("GLIBC_2.14 GLIBC_2.38") }.message)
    assert_raises(Release::Failed) { pack.call("") }
    assert_includes File.read("#{PROJECT}/docs/compatibility.md"), "need glibc #{Release::Precompiled::GLIBC_MOST} "
  end

  # @yieldparam release [Release] with a package and its checksums
  # @yieldparam folder [String] that they are in
  def packed
    repository("") do |project|
      release = Release.new(project, into: "#{project}/pkg", rubies: [])
      FileUtils.mkdir_p("#{project}/pkg")
      File.write("#{project}/pkg/a.gem", "a")
      release.send(:checksums, ["#{project}/pkg/a.gem"])
      yield release, "#{project}/pkg"
    end
  end

  # A folder of keys with one, which nothing else uses; its path is short, as a socket stands in it.
  def key_ring
    before = ENV["GNUPGHOME"]
    Dir.mktmpdir("gpg", "/tmp") do |folder|
      ENV["GNUPGHOME"] = folder
      told, status = Open3.capture2e("gpg", "--batch", "--pinentry-mode", "loopback", "--passphrase", "", "--quick-generate-key", "maker@example.org", "ed25519", "sign", "never")
      assert status.success?, told
      yield
    ensure
      Open3.capture2e("gpgconf", "--kill", "all")
    end
  ensure
    ENV["GNUPGHOME"] = before
  end

  test "checksums are signed with a key, as gpg verifies; and not for packages that are others" do
    packed do |release, folder|
      key_ring do
        assert_equal %w[SHA256SUMS.asc SHA512SUMS.asc], release.sign("maker@example.org").map { |path| File.basename(path) }
        %w[SHA256SUMS SHA512SUMS].each do |name|
          told, status = Open3.capture2e("gpg", "--verify", "#{name}.asc", name, chdir: folder)
          assert status.success?, told
          assert_match(/Good signature from "maker@example.org"/, told)
        end
        assert_match(/gpg .* failed/, assert_raises(Release::Failed) { release.sign("nobody@example.org") }.message)
        File.write("#{folder}/SHA512SUMS", "x", mode: "a")
        refute Open3.capture2e("gpg", "--verify", "SHA512SUMS.asc", "SHA512SUMS", chdir: folder).last.success?
      end
      File.write("#{folder}/a.gem", "b")
      assert_match(/a.gem is not the package that SHA256SUMS was written for/, assert_raises(Release::Failed) { release.sign("maker@example.org") }.message)
      FileUtils.rm("#{folder}/SHA256SUMS")
      assert_match(/rake release:build writes it/, assert_raises(Release::Failed) { release.sign("maker@example.org") }.message)
    end
  end

  test "the packages are tried with each Ruby of the matrix, or it fails and says how to get one" do
    assert_equal %w[3.2.1], Release.missing(["3.2.1", RUBY_VERSION], [RbConfig.ruby])
    release = Class.new(Release) { define_singleton_method(:missing) { |*| %w[3.3.8] } }.new(PROJECT, rubies: [])
    error = assert_raises(Release::Failed) { PackageTest.run(release, build: -> { flunk }) }
    assert_match(/provide 3\.3\.8: bin\/setup --ruby 3\.3\.8/, error.message)
  end

  test "a Ruby with which nothing was installed is told, and no installation at all is not called fine" do
    tried = lambda do |*lines|
      Class.new(Release) { define_method(:try_everywhere) { |&told| lines.each(&told) } }.new(PROJECT, rubies: [RbConfig.ruby])
    end
    failed = lambda do |release, **wanted|
      assert_raises(Release::Failed) { capture_io { PackageTest.run(release, build: -> {}, **wanted) } }.message
    end
    assert_equal "no installation was tried with Ruby #{RUBY_VERSION}", failed.call(tried.call, rubies: [RUBY_VERSION])
    assert_equal "no installation was tried with Ruby #{RUBY_VERSION}", failed.call(tried.call("Ruby 3.2.1, a.gem: fine"), rubies: [RUBY_VERSION])
    assert_equal "no installation was tried", failed.call(tried.call, rubies: [])
    assert_output(/package_test: 1 installation is fine/) { PackageTest.run(tried.call("Ruby #{RUBY_VERSION}, a.gem: fine"), build: -> {}, rubies: [RUBY_VERSION]) }
  end

  test "what was tried stands in the page of compatibility, and is written anew in the same place" do
    page = "# C\n\n## Packages\n\nx\n\n## Rubies\n\ny\n"
    first = PackageTest.page(page, ["Ruby 3.4.5: fine in 3 s"], "Made with a.")
    part = [PackageTest::BEGINS, "", "To repeat it: `bin/exec rake package_test WRITE=1`.", "", "Made with a.", "",
      "**1 installation is fine.**", "", "- Ruby 3.4.5: fine in 3 s", "", PackageTest::ENDS, ""]
    assert_equal page.sub("## Rubies") { "#{part.join("\n")}\n## Rubies" }, first
    assert_equal first.sub("in 3 s", "in 7 s").sub("with a", "with b"), PackageTest.page(first, ["Ruby 3.4.5: fine in 7 s"], "Made with b.")
    assert_match PackageTest::FOLLOWING, File.read(PackageTest::PAGE)
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
