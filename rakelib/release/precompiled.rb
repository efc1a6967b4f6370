# frozen_string_literal: true

require "fileutils"
require "open3"
require "rubygems"

# The same gems with their extensions compiled, for those who have no compiler: one folder for each version of Ruby, as a checkout has it.
# Another Ruby, or another system, takes the gem from source.
class Release::Precompiled
  # Of the C library that they are linked with: musl is another.
  PLATFORM = "x86_64-linux-gnu"

  # The newest version of it whose symbols the extensions may need: Debian 12, Ubuntu 22.04 and RHEL 9 have it. RubyGems does not ask for
  # it, so on an older one such a package is installed, and its extension is not loaded.
  GLIBC_MOST = "2.34"

  # Folder of the sources => where Ruby looks for what is made of them.
  EXTENSIONS = {
    "probe/ext/puma_tuner_probe" => "probe/lib/puma_tuner/probe/native", "ext/puma_tuner_load" => "lib/puma_tuner/native", "ext/puma_tuner_sim" => "lib/puma_tuner/native"
  }.freeze

  # Makes the package of the gemspec in its folder: gemspec, path, the least Ruby, and the first that is too new. The sources stay in it: an
  # app on another Ruby has the probe compiled from them.
  PACKAGE = <<~RUBY
    require "rubygems/package"
    gemspec, path, least, too_new = ARGV
    spec = Gem::Specification.load(gemspec)
    spec.platform = "#{PLATFORM}"
    spec.required_ruby_version = [">= \#{least}", "< \#{too_new}.dev"]
    spec.files += Dir["lib/**/native/*/*.so"].sort
    spec.extensions = []
    Gem::Package.build(spec, false, false, path)
  RUBY

  class << self
    # @param ruby [String] executable
    # @param of [String] what is asked
    # @return [String] "3.4"
    def version(ruby, of = 'RUBY_VERSION[/\A\d+\.\d+/]')
      Open3.capture2({"RUBYOPT" => nil}, ruby, "--disable-gems", "-e", "print #{of}").first
    end

    # @param symbols [String] what `readelf --version-info` prints of an extension
    # @return [String, nil] the newest version of glibc that it needs symbols of
    def glibc(symbols) = symbols.scan(/\bGLIBC_([\d.]+)/).flatten.max_by { |version| Gem::Version.new(version) }
  end

  # @param folder [String] a copy of the project
  # @param rubies [Array<String>] executables
  # @yield runs a command in a folder
  # @yieldparam words [Array<String>]
  # @yieldparam chdir [String]
  def initialize(folder, rubies, &run)
    @folder, @rubies, @run = folder, rubies, run
  end

  # @param gems [Hash{String => String}] name to folder
  # @return [Array<String>] paths; none on another platform
  # @raise [Release::Failed]
  def packages(version, gems)
    return [] unless Gem::Platform.local === Gem::Platform.new(PLATFORM)
    @rubies.product(EXTENSIONS.to_a) { |ruby, (sources, target)| compile(ruby, sources, target) }
    gems.map do |name, place|
      path = File.join(@folder, "#{name}-#{version}-#{PLATFORM}.gem")
      @run.call(RbConfig.ruby, "-e", PACKAGE, "#{name}.gemspec", path, *span, chdir: File.join(@folder, place))
      path
    end
  end

  private

  # @return [Array(String, String)] the least Ruby, and the first that is too new
  def span
    minors = @rubies.map { |ruby| self.class.version(ruby).split(".").map(&:to_i) }.sort
    gap = minors.each_cons(2).find { |(major, minor), following| following != [major, minor + 1] }
    raise Release::Failed, "there is no Ruby between #{gap.map { |one| one.join(".") }.join(" and ")} to compile for" if gap
    [minors.first.join("."), "#{minors.last[0]}.#{minors.last[1] + 1}"]
  end

  # Without what a debugger reads, in which paths would stand.
  def compile(ruby, sources, target)
    name, version = File.basename(sources), self.class.version(ruby)
    work = File.join(@folder, "compiled", version, name)
    FileUtils.mkdir_p(work)
    @run.call(ruby, File.join(@folder, sources, "extconf.rb"), chdir: work)
    @run.call("make", "debugflags=", chdir: work)
    built = File.join(work, "#{name}.so")
    @run.call("strip", "--strip-unneeded", built, chdir: work)
    ensure_free_of_libruby(built, work)
    ensure_glibc(File.basename(built), @run.call("readelf", "--version-info", built, chdir: work))
    FileUtils.mkdir_p(into = File.join(@folder, target, version))
    FileUtils.install(built, into, mode: 0o644)
  end

  # It would be another one, in another place, where it is used.
  def ensure_free_of_libruby(built, work)
    needed = @run.call("readelf", "--dynamic", built, chdir: work)
    raise Release::Failed, "#{File.basename(built)} needs a shared libruby; compile with Rubies that are built without --enable-shared" if needed.include?("libruby")
  end

  # What is compiled where the C library is newer may need what others lack.
  def ensure_glibc(name, symbols)
    needed = self.class.glibc(symbols)
    return if needed && Gem::Version.new(needed) <= Gem::Version.new(GLIBC_MOST)
    raise Release::Failed, "#{name} needs glibc #{needed || "of an unknown version"}, and the packages promise #{GLIBC_MOST}; compile where it is older"
  end
end
