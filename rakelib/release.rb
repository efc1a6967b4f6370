# frozen_string_literal: true

require "digest"
require "fileutils"
require "open3"
require "rbconfig"
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

  # A program that a user might begin with: both parts are there, and so are all extensions, of which the generator sends a load.
  LOADS = <<~RUBY
    require "puma_tuner"
    exit(false) unless PumaTuner::Probe::GvlClock.start && PumaTuner::Predict::Engine.codes.any?
    PumaTuner::Load::StallServer.run(stall_s: 0) do |server|
      mix = PumaTuner::Load::Mix.new(requests: [PumaTuner::Load::Request.new(path: "/")])
      outcome = PumaTuner::Load::Native.new.run(mix:, url_base: server.url, connections_count: 2, duration_s: 0.3, seed: 1, arrivals: PumaTuner::Load::Arrivals.closed)
      exit(outcome.requests_count.positive?)
    end
  RUBY

  # What the second needs besides.
  NEEDED = %w[csv].freeze

  # Its forecast is made of the installed gems alone.
  RECORDING = "test/fixtures/advise/realistic.json"

  # The one place of both gems' version.
  VERSION_FILE = "probe/lib/puma_tuner/version.rb"

  # @param project [String] a checkout
  # @param commit [String] what is built: nothing that is not committed is in it
  # @param into [String] the folder of the packages
  # @param rubies [Array<String>] executables: those that the precompiled packages have extensions for
  def initialize(project = Dir.pwd, commit: "HEAD", into: "pkg", rubies: self.class.rubies)
    @project = project
    @rubies = rubies
    @commit = git("rev-parse", commit).strip
    @version = git("show", "#{@commit}:#{VERSION_FILE}")[/VERSION = "(.+)"/, 1]
    @into = File.expand_path(into, project)
  end

  # @return [Array<String>] this Ruby, and those that bin/setup has provided: one of each version that the gems run on
  def self.rubies
    kept = Dir[File.join(ENV.fetch("PUMA_TUNER_CACHE") { File.expand_path("~/.cache/puma_tuner") }, "ruby-*/bin/ruby")]
    [RbConfig.ruby, *kept].uniq { |ruby| Precompiled.version(ruby) }.reject { |ruby| Gem::Version.new(Precompiled.version(ruby)) < Gem::Version.new("3.3") }
  end

  # @return [Array<String>] paths of the packages, and of their checksums
  # @raise [Failed]
  def build
    FileUtils.mkdir_p(@into)
    Dir.mktmpdir("puma_tuner-release") do |folder|
      packages, again = %w[first second].map { |name| packages_in(File.join(folder, name)) }
      packages.zip(again) { |one, two| raise Failed, "#{File.basename(one)} is another one when it is built again" unless FileUtils.identical?(one, two) }
      packages.each_slice(GEMS.size).with_index { |both, number| try(both, File.join(folder, "home-#{number}")) }
      FileUtils.cp(packages, @into)
      [*packages.map { |path| File.join(@into, File.basename(path)) }, *checksums(packages)]
    end
  end

  # Installs the packages that were built, from their files, into an empty place of each Ruby, and runs what a user runs first. The
  # precompiled ones where there is no compiler.
  # @yieldparam line [String] what was done, and how long it took
  # @raise [Failed]
  def try_everywhere
    @rubies.product(built) do |ruby, packages|
      began_s = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      Dir.mktmpdir("puma_tuner-release") { |home| try(packages, home, ruby:, path: (File.dirname(ruby) if precompiled?(packages))) }
      took_s = Process.clock_gettime(Process::CLOCK_MONOTONIC) - began_s
      yield "Ruby #{Precompiled.version(ruby, "RUBY_VERSION")}, #{packages.map { |path| File.basename(path) }.join(" and ")}: installed and run in #{took_s.round} s"
    end
  end

  # Signs the checksums of the packages that were built, beside them, with a key of whoever makes the release.
  # @param key [String] as gpg knows it
  # @return [Array<String>] paths of the signatures
  # @raise [Failed] also where the packages are not those of the checksums any more
  def sign(key)
    DIGESTS.keys.map do |name|
      path, signature = File.join(@into, name), File.join(@into, "#{name}.asc")
      raise Failed, "there is no #{path}; rake release:build writes it" unless File.file?(path)
      ensure_sums(path, DIGESTS.fetch(name))
      run("gpg", "--batch", "--yes", "--local-user", key, "--armor", "--detach-sign", "--output", signature, path)
      run("gpg", "--batch", "--verify", signature, path)
      signature
    end
  rescue Errno::ENOENT
    raise Failed, "signing needs gpg, which is not installed (Debian: gnupg)"
  end

  # @return [Array<String>] versions that the packages are to be tried with, and that are not here
  def self.missing(wanted, rubies = self.rubies)
    wanted - rubies.map { |ruby| Precompiled.version(ruby, "RUBY_VERSION") }
  end

  # @return [String] e.g. "commit `4ffeb6d`": what the packages are built of
  def commit_words = "commit `#{git("rev-parse", "--short", @commit).strip}`"

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
    environment = clean("SOURCE_DATE_EPOCH" => epoch)
    sources = GEMS.map do |name, place|
      path = File.join(folder, "#{name}-#{@version}.gem")
      run(RbConfig.ruby, "-S", "gem", "build", "#{name}.gemspec", "--output", path, environment:, chdir: File.join(folder, place))
      path
    end
    sources + Precompiled.new(folder, @rubies) { |*words, chdir:| run(*words, environment:, chdir:) }.packages(@version, GEMS)
  end

  # @return [Array<Array<String>>] of what stands in the folder: both gems from source, and precompiled
  def built
    ["", "-#{Precompiled::PLATFORM}"].map { |suffix| GEMS.keys.map { |name| File.join(@into, "#{name}-#{@version}#{suffix}.gem") } }
      .select { |packages| packages.all? { |path| File.exist?(path) } }
  end

  def precompiled?(packages) = packages.first.end_with?("#{Precompiled::PLATFORM}.gem")

  # Installs them into an empty place, and runs what a user runs first. A gem that they need comes with most Rubies; for others its
  # package is taken, which stands where this program has its own gems.
  # @param path [String, nil] the only folder of programs; nil: all that there are
  def try(packages, home, ruby: RbConfig.ruby, path: nil)
    FileUtils.mkdir_p(home)
    environment = clean("GEM_HOME" => home, "GEM_PATH" => home, "XDG_STATE_HOME" => home, "PUMA_TUNER_CACHE" => home, **(path ? {"PATH" => path} : {}))
    # One after the other, and not --install-dir: else those that are there already are not looked for.
    [needed, packages].each { |paths| run(ruby, "-S", "gem", "install", "--local", "--no-document", *paths, environment:) if paths.any? }
    run(ruby, "-e", LOADS, environment:, chdir: home)
    command = ->(*words) { run(ruby, File.join(home, "bin/puma_tuner"), *words, environment:, chdir: home) }
    told = command.call("--version")
    raise Failed, "--version says #{told.inspect}" unless told.include?(@version)
    raise Failed, "tune --help does not say how it is used" unless command.call("tune", "--help").include?("puma_tuner tune")
    forecast = command.call("predict", File.join(@project, RECORDING), "--threads", "1", "--workers", "1", "--seeds", "2", "--simulated-requests", "200")
    raise Failed, "predict forecast nothing:\n#{forecast}" unless forecast.match?(/^ +1x1 /)
  end

  # @return [Array<String>] paths of packages, the newest of each
  def needed
    NEEDED.filter_map { |name| Dir["{#{Gem.path.join(",")}}/cache/#{name}-[0-9]*.gem"].max_by { |path| Gem::Version.new(path[/-([\d.]+)\.gem\z/, 1]) } }
  end

  def checksums(packages)
    DIGESTS.map do |name, digest|
      File.join(@into, name).tap do |path|
        File.write(path, packages.map { |package| "#{digest.file(package).hexdigest}  #{File.basename(package)}\n" }.join)
      end
    end
  end

  def ensure_sums(path, digest)
    File.readlines(path, chomp: true).each do |line|
      sum, name = line.split("  ", 2)
      package = File.join(@into, name)
      next if File.file?(package) && digest.file(package).hexdigest == sum
      raise Failed, "#{name} is not the package that #{File.basename(path)} was written for; run rake release:build again"
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

require_relative "release/precompiled"
