# frozen_string_literal: true

require "open3"
require "rubygems/package"
require "tmpdir"

# Both gems as a user gets them: built, and installed by RubyGems into an empty place, once in a run of the tests.
module PackedGems
  PROJECT = File.expand_path("../..", __dir__)

  # Name => the folder of its gemspec; the second depends on the first.
  FOLDERS = {"puma_tuner-probe" => File.join(PROJECT, "probe"), "puma_tuner" => PROJECT}.freeze

  # What the second needs besides.
  DEPENDENCIES = %w[csv].freeze

  module_function

  # @return [Hash{String => String}] of an environment that has nothing of ours
  def clean_environment = Bundler.unbundled_env.except("RUBYOPT", "RUBYLIB", "GEM_HOME", "GEM_PATH")

  # @return [Array(String, Boolean)] all that it printed, and whether it succeeded
  def ruby(*words, folder: PROJECT, **environment)
    output, status = Open3.capture2e(clean_environment.merge(environment.transform_keys(&:to_s)), RbConfig.ruby, *words, chdir: folder, unsetenv_others: true)
    [output, status.success?]
  end

  # @return [String] what it printed
  def ruby!(...) = ruby(...).then { |output, success| success ? output : raise("it failed:\n#{output}") }

  # @return [Hash{String => String}] name => path of the package
  def packages
    @packages ||= FOLDERS.to_h do |name, folder|
      package = File.join(here, "#{name}.gem")
      (@built ||= +"") << ruby!("-S", "gem", "build", "#{name}.gemspec", "--output", package, folder:)
      [name, package]
    end
  end

  # @return [String] what `gem build` printed, of both
  def built = packages && @built

  # @return [Array<String>] of the package
  def files_of(name) = (@files ||= {})[name] ||= Gem::Package.new(packages.fetch(name)).contents.freeze

  # What a debugger reads of an extension costs the compiler time, and shows nothing here.
  WITHOUT_DEBUGGING = {MAKEFLAGS: "debugflags="}.freeze

  # @return [String] a GEM_HOME of both gems, and of nothing else
  def home
    packages
    @home ||= File.join(here, "home").tap do |home|
      words = ["-S", "gem", "install", "--local", "--ignore-dependencies", "--no-document", "--install-dir", home]
      @told = ruby!(*words, *packages.values, GEM_HOME: home, **WITHOUT_DEBUGGING)
    end
  end

  # @return [String] what `gem install` printed
  def told = home && @told

  # @param place [String] a GEM_HOME that both are put into
  # @return [String] the place
  def install_into(place)
    FileUtils.mkdir_p(place)
    FileUtils.cp_r("#{home}/.", place)
    place
  end

  def here
    @here ||= File.realpath(Dir.mktmpdir("puma_tuner-test")).tap { |folder| Minitest.after_run { FileUtils.remove_entry(folder) } }
  end
end
