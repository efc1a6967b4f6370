# frozen_string_literal: true

require "digest"
require "fileutils"
require "open3"
require "tmpdir"

# Both gems, built from a commit so that whoever builds them from it again gets the same bytes, and tried as a user gets
# them: from the packed files, in an empty place.
class Release
  # A step failed: the message has what it printed.
  class Failed < StandardError; end

  # Name => the folder of its gemspec; the second depends on the first.
  GEMS = {"puma_tuner-probe" => "probe", "puma_tuner" => "."}.freeze

  # Names of the files that have the checksums, as `sha256sum --check` reads them.
  DIGESTS = {"SHA256SUMS" => Digest::SHA256, "SHA512SUMS" => Digest::SHA512}.freeze

  # A program that a user might begin with: both parts are there, and the probe's extension is.
  LOADS = "require 'puma_tuner'; exit PumaTuner::Probe::GvlClock.start && PumaTuner::Predict::Engine.codes.any?"

  # The one place of both gems' version.
  VERSION_FILE = "probe/lib/puma_tuner/version.rb"

  # @param project [String] a checkout
  # @param commit [String] what is built: nothing that is not committed is in it
  # @param into [String] the folder of the packages
  def initialize(project = Dir.pwd, commit: "HEAD", into: "pkg")
    @project = project
    @commit = git("rev-parse", commit).strip
    @version = git("show", "#{@commit}:#{VERSION_FILE}")[/VERSION = "(.+)"/, 1]
    @into = File.expand_path(into, project)
  end

  # @return [Array<String>] paths of the packages, and of their checksums
  # @raise [Failed]
  def build
    FileUtils.mkdir_p(@into)
    Dir.mktmpdir("puma_tuner-release") do |folder|
      packages, again = %w[first second].map { |name| packages_in(File.join(folder, name)) }
      packages.zip(again) { |one, two| raise Failed, "#{File.basename(one)} is another one when it is built again" unless FileUtils.identical?(one, two) }
      try(packages, File.join(folder, "home"))
      FileUtils.cp(packages, @into)
      [*packages.map { |path| File.join(@into, File.basename(path)) }, *checksums(packages)]
    end
  end

  # @return [String, nil] what is missing for these packages to be a release
  def unfinished
    heading = git("show", "#{@commit}:CHANGELOG.md")[/^## #{Regexp.escape(@version)} \(\d{4}-\d\d-\d\d\)$/]
    "CHANGELOG.md has no heading \"## #{@version} (YEAR-MONTH-DAY)\": these packages are for trying out" unless heading
  end

  private

  def git(*words) = run("git", "-C", @project, *words)

  # The time in the packages is the commit's, and its files have the rights that a fresh checkout gives them.
  def packages_in(folder)
    FileUtils.mkdir_p(folder)
    run("sh", "-c", "umask 022; git archive \"$0\" | tar -x -C \"$1\"", @commit, folder, chdir: @project)
    epoch = git("show", "--no-patch", "--format=%ct", @commit).strip
    GEMS.map do |name, place|
      path = File.join(folder, "#{name}-#{@version}.gem")
      run(RbConfig.ruby, "-S", "gem", "build", "#{name}.gemspec", "--output", path, environment: clean("SOURCE_DATE_EPOCH" => epoch), chdir: File.join(folder, place))
      path
    end
  end

  # Installs them into an empty place, which compiles them, and runs what a user runs first. Other gems come from where
  # this program has its own.
  def try(packages, home)
    environment = clean("GEM_HOME" => home, "GEM_PATH" => [home, *Gem.path].join(File::PATH_SEPARATOR))
    run(RbConfig.ruby, "-S", "gem", "install", "--local", "--ignore-dependencies", "--no-document", "--install-dir", home, *packages, environment:)
    run(RbConfig.ruby, "-e", LOADS, environment:, chdir: home)
    command = File.join(home, "bin/puma_tuner")
    told = run(RbConfig.ruby, command, "--version", environment:, chdir: home)
    raise Failed, "--version says #{told.inspect}" unless told.include?(@version)
    raise Failed, "tune --help does not say how it is used" unless run(RbConfig.ruby, command, "tune", "--help", environment:, chdir: home).include?("puma_tuner tune")
  end

  def checksums(packages)
    DIGESTS.map do |name, digest|
      File.join(@into, name).tap do |path|
        File.write(path, packages.map { |package| "#{digest.file(package).hexdigest}  #{File.basename(package)}\n" }.join)
      end
    end
  end

  # @return [Hash] of an environment without this program's own gems
  def clean(added) = ENV.to_h.reject { |name, _| name.match?(/\A(BUNDLE|RUBY(OPT|LIB)|GEM_|BUNDLER_)/) }.merge(added)

  # @return [String] what it printed
  def run(*words, environment: {}, **options)
    printed, status = Open3.capture2e(environment, *words, unsetenv_others: environment.any?, **options)
    status.success? ? printed : raise(Failed, "#{words.join(" ")} failed:\n#{printed}")
  end
end
