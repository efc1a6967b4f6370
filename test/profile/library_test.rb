# frozen_string_literal: true

require "test_helper"
require "tmpdir"
require "yaml"
require "support/gem_repository"

class ProfileLibraryTest < TunerTest
  Library = PumaTuner::Profile::Library

  # As a profiler says of itself.
  module Tiny
    NAME = GEM = "tiny"
    VERSION_REQUIREMENT = "~> 1.2"
    PINNED_VERSION = "1.2.3"
    RUBY_REQUIREMENT = ">= 3.3"
  end

  module Later
    include Tiny

    NAME = GEM = "later"
    RUBY_REQUIREMENT = ">= 99.0"
  end

  def in_gem_folder
    Dir.mktmpdir do |folder|
      FileUtils.mkdir_p(File.join(folder, "specifications"))
      yield folder, Library.new(folders: [folder])
    end
  end

  # Describes a gem as installed.
  def put(folder, name, version, ruby: ">= 3.0", dependencies: {}, extension: nil)
    spec = Gem::Specification.new(name, version) do |s|
      s.summary = s.description = name
      s.authors = ["a test"]
      s.required_ruby_version = ruby
      dependencies.each { |other, needed| s.add_dependency(other, needed) }
      s.extensions = ["ext/extconf.rb"] if extension
    end
    FileUtils.mkdir_p(File.join(folder, "gems", spec.full_name, "lib"))
    File.write(File.join(folder, "specifications", "#{spec.full_name}.gemspec"), spec.to_ruby)
    return unless extension == :built
    built = File.join(folder, "extensions", Gem::Platform.local.to_s, Gem.extension_api_version, spec.full_name)
    FileUtils.mkdir_p(built)
    FileUtils.touch(File.join(built, "gem.build_complete"))
  end

  def complaint(library, ...) = assert_raises(PumaTuner::UsageError) { library.locate(...) }.message

  test "finds the newest version that will do, with its compiled part and what it depends on" do
    in_gem_folder do |folder, library|
      put(folder, "tiny", "1.2.0", extension: :built)
      put(folder, "tiny", "1.3.0", extension: :built, dependencies: {"helper" => ">= 1"})
      put(folder, "tiny", "2.0.0", extension: :built)
      put(folder, "tiny-other", "1.9.0")
      put(folder, "helper", "1.0", dependencies: {"tiny" => ">= 1"})
      paths = library.locate("tiny", "~> 1.2")
      assert_equal %w[gems/tiny-1.3.0/lib extensions gems/helper-1.0/lib], paths.map { |path| path.delete_prefix("#{folder}/").sub(%r{\Aextensions/.*/tiny-1\.3\.0\z}, "extensions") }.sort_by { |path| [path[/helper/].to_s, path[/ext/].to_s] }
    end
  end

  test "passes over a gem whose compiled part was not made for this Ruby" do
    in_gem_folder do |folder, library|
      put(folder, "tiny", "1.2.0", extension: :built)
      put(folder, "tiny", "1.2.9", extension: :missing)
      assert_match(%r{tiny-1\.2\.0/lib}, library.locate("tiny", "~> 1.2").join(" "))
    end
  end

  test "says what is missing, and what to do" do
    in_gem_folder do |folder, library|
      assert_match(/\Atiny ~> 1\.2 is not installed: puma_tuner profile --install tiny, or gem install tiny, or add it to the app's Gemfile \(group :development\)\.\z/, complaint(library, "tiny", "~> 1.2"))
    end
    in_gem_folder do |folder, library|
      put(folder, "tiny", "0.9")
      assert_match(/\Atiny 0\.9 is installed, and known to work is ~> 1\.2, compiled for Ruby/, complaint(library, "tiny", "~> 1.2"))
    end
    in_gem_folder do |folder, library|
      put(folder, "tiny", "1.2", dependencies: {"helper" => ">= 3"})
      assert_match(/\Atiny needs helper >= 3, which is not installed/, complaint(library, "tiny", "~> 1.2"))
    end
    in_gem_folder do |folder, library|
      put(folder, "tiny", "1.2", ruby: ">= 99.1")
      assert_match(/\Atiny 1\.2 needs Ruby >= 99\.1, and this is #{Regexp.escape(RUBY_VERSION)}\.\z/o, complaint(library, "tiny", "~> 1.2"))
    end
  end

  test "sees gems that Bundler hides" do
    skip "Bundler is not at work here" unless ENV["BUNDLE_GEMFILE"]
    name = %w[vernier stackprof pf2 memory_profiler].find { |gem| Library.installed?(PumaTuner::Probe::Profilers.find(gem)) }
    skip "no profiler is installed; bin/setup --test installs them" unless name
    assert_empty Gem::Specification.find_all_by_name(name)
    refute_empty Library.locate(name)
  end

  test "installs the pinned version where nothing else looks, and finds it there" do
    Dir.mktmpdir do |folder|
      source = GemRepository.make(folder, "tiny" => {"1.2.3" => "TINY = 3", "1.2.4" => "TINY = 4"})
      File.write(File.join(folder, "gemrc"), {sources: [source]}.to_yaml)
      with_environment("PUMA_TUNER_CACHE" => File.join(folder, "cache"), "GEMRC" => File.join(folder, "gemrc")) do
        paths = Library.new.install(Tiny)
        assert_equal ["#{folder}/cache/profilers/#{RUBY_VERSION}/gems/tiny-1.2.3/lib"], paths
        assert_equal paths, Library.locate("tiny", "~> 1.2")
        assert Library.installed?(Tiny)
      end
    end
  end

  test "says why nothing was installed" do
    Dir.mktmpdir do |folder|
      source = GemRepository.make(folder, "tiny" => {"1.2.4" => ""})
      File.write(File.join(folder, "gemrc"), {sources: [source]}.to_yaml)
      with_environment("PUMA_TUNER_CACHE" => File.join(folder, "cache"), "GEMRC" => File.join(folder, "gemrc")) do
        assert_match(/tiny 1\.2\.3 can't be installed:\n  \| .*1\.2\.3/m, assert_raises(PumaTuner::UsageError) { Library.new.install(Tiny) }.message)
        assert_match(/later needs Ruby >= 99\.0, and this is/, assert_raises(PumaTuner::UsageError) { Library.new.install(Later) }.message)
        refute Library.installed?(Tiny)
      end
      with_environment("PUMA_TUNER_CACHE" => "/proc/nowhere") do
        assert_match(/PUMA_TUNER_CACHE names another folder/, assert_raises(PumaTuner::UsageError) { Library.new.install(Tiny) }.message)
      end
      assert_match(/perf is not a gem/, assert_raises(PumaTuner::UsageError) { Library.install("perf") }.message)
    end
  end

  test "keeps gems by Ruby's version, where the environment says" do
    with_environment("PUMA_TUNER_CACHE" => nil, "XDG_CACHE_HOME" => "/somewhere") { assert_equal "/somewhere/puma_tuner/profilers/#{RUBY_VERSION}", Library.folder }
    with_environment("PUMA_TUNER_CACHE" => "/here") { assert_equal "/here/profilers/#{RUBY_VERSION}", Library.folder }
    assert_equal Library.folder, Library.folders.last
  end
end
