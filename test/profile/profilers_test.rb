# frozen_string_literal: true

require "test_helper"
require "tmpdir"

class ProfilersTest < TunerTest
  Profile = PumaTuner::Profile

  test "knows each profiler by name, and says what there is" do
    names = Profile.profilers.map { |profiler| profiler::NAME }
    assert_equal ["vernier", "perf"], names.values_at(0, -1)
    Profile.profilers.each { |profiler| assert_same profiler, Profile.profiler(profiler::NAME) }
    inside = PumaTuner::Probe::Profilers
    inside.all.each { |profiler| assert_same profiler, inside.find(profiler::NAME) }
    assert_equal inside.all, inside.all.uniq { |profiler| profiler::PRIORITY }
    ["../../etc/passwd", "ruby_prof", "Vernier"].each do |name|
      assert_equal "unknown profiler #{name.inspect}; choose one of #{names.join(", ")}", assert_raises(PumaTuner::UsageError) { Profile.profiler(name) }.message
      assert_equal "unknown profiler #{name.inspect}; choose one of #{(names - ["perf"]).join(", ")}", assert_raises(PumaTuner::UsageError) { inside.find(name) }.message
    end
  end

  test "each profiler inside of a process has a reader of its name, and a test" do
    PumaTuner::Probe::Profilers::CONSTANTS.each do |file, constant|
      assert_operator Profile::Readers.const_get(constant), :<, Profile::Readers::Reader
      assert_path_exists File.expand_path("profilers/#{file}_test.rb", __dir__)
    end
  end

  test "each says what it is, what it can and how its file is looked at" do
    Profile.profilers.each do |profiler|
      assert_equal profiler.default_mode, profiler::MODES.keys.first
      profiler::MODES.each { |mode, sentence| assert_match(/\A[a-z]+: \w.{10,}/, "#{mode}: #{sentence}") }
      assert_match(/\A\.[a-z]/, profiler::EXTENSION)
      assert_match(/FILE|profiler\.firefox\.com/, profiler::VIEWER)
      assert_includes [true, false], profiler::STAMPED
      assert_operator Gem::Requirement.new(profiler::RUBY_REQUIREMENT), :satisfied_by?, Gem::Version.new("3.4.5")
      next unless profiler::GEM
      assert_operator Gem::Requirement.new(profiler::VERSION_REQUIREMENT), :satisfied_by?, Gem::Version.new(profiler::PINNED_VERSION)
    end
    assert_equal %w[ruby-prof memory_profiler], Profile.profilers.select { |profiler| profiler::TRACING }.map { |profiler| profiler::NAME }
  end

  test "refuses a mode that there is not" do
    (Profile.profilers - [Profile::Perf]).each do |profiler|
      error = assert_raises(PumaTuner::UsageError) { profiler.new(path: "/tmp/none", mode: "sideways") }
      assert_match(/#{profiler::NAME} has no mode "sideways"; choose one of #{profiler::MODES.keys.join(", ")}/, error.message)
    end
  end

  test "what is loaded in the server is no library but the profiler's" do
    script = "before = $LOADED_FEATURES.dup; require 'puma_tuner'; PumaTuner::Probe::Profilers.all; " \
             "puts(($LOADED_FEATURES - before).reject { |path| path.include?('puma_tuner') })"
    output = IO.popen([RbConfig.ruby, "--disable-gems", "-I", File.expand_path("../../lib", __dir__), "-e", script, unsetenv_others: true], &:read)
    assert_equal "", output
  end

  test "says so when the app has a version that is not known" do
    Dir.mktmpdir do |folder|
      File.write(File.join(folder, "vernier.rb"), "module Vernier; VERSION = '3.0.0'; end")
      script = "require 'puma_tuner'; PumaTuner::Probe::Profilers.find('vernier').new(path: '/tmp/none').start"
      output = IO.popen([RbConfig.ruby, "-I", File.expand_path("../../lib", __dir__), "-I", folder, "-e", script, {err: %i[child out]}], &:read)
      assert_match(/the app has vernier 3\.0\.0; versions known to work are ~> 1\.12\. Update it in the app's Gemfile/, output)
    end
  end

  test "a file that is far longer than any profile is refused unread, with its limit" do
    Dir.mktmpdir do |folder|
      File.write(path = File.join(folder, "log"), "")
      File.truncate(path, 1 << 40)
      (Profile.profilers.map { |profiler| profiler::NAME } - ["perf"]).each do |name|
        error = assert_raises(Profile::UnreadableProfile) { Profile::Readers.read(Profile.profiler(name), path) }
        assert_match(/it has more than 512 MiB; profile for less time, or sample less often\. Record it again/, error.message)
      end
    end
  end
end
