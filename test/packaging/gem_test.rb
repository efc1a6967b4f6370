# frozen_string_literal: true

require "test_helper"
require "open3"
require "tmpdir"

# The gem as a user gets it: built, installed into an empty place, used from there.
class GemTest < TunerTest
  time_limit 120

  PROJECT = File.expand_path("../..", __dir__)

  def run!(*words, environment: {})
    clean = Bundler.unbundled_env.except("RUBYOPT", "RUBYLIB")
    output, status = Open3.capture2e(clean.merge(environment), *words, chdir: PROJECT, unsetenv_others: true)
    assert status.success?, output
    output
  end

  def ruby(*words, **options) = run!(RbConfig.ruby, *words, **options)

  test "it installs with its extension, and measures" do
    Dir.mktmpdir do |folder|
      package = File.join(folder, "puma_tuner.gem")
      ruby("-S", "gem", "build", "puma_tuner.gemspec", "--output", package)
      home = {"GEM_HOME" => folder, "GEM_PATH" => [folder, Bundler.bundle_path].join(":")} # the second: for dry-cli and its like
      ruby("-S", "gem", "install", "--local", "--ignore-dependencies", "--no-document", "--install-dir", folder, package, environment: home)
      script = "require 'puma_tuner'; puts PumaTuner::Measure::GvlClock.start; puts $LOADED_FEATURES.grep(/puma_tuner\\.so/)"
      started, loaded_from = ruby("-e", script, environment: home).lines(chomp: true)
      assert_includes loaded_from, File.realpath(folder)
      assert_equal "true", started
    end
  end

  test "it holds what it needs, and neither tests nor built files" do
    files = Gem::Specification.load(File.join(PROJECT, "puma_tuner.gemspec")).files
    %w[lib/puma_tuner.rb lib/puma/plugin/puma_tuner.rb ext/puma_tuner/gvl_clock.c ext/puma_tuner/slot.h exe/puma_tuner
      lib/puma_tuner/report/html/page.html.erb LICENSE.txt].each { |file| assert_includes files, file }
    assert_empty files.grep(/\.so\z|\Atest|\.o\z/)
  end

  test "every page that a message or a help text points to is in it" do
    files = Gem::Specification.load(File.join(PROJECT, "puma_tuner.gemspec")).files
    named = Dir[File.join(PROJECT, "lib/**/*.rb")].flat_map { |path| File.read(path).scan(%r{\b(?:docs|ops)/[\w/]+\.(?:md|yml|json)}) }.uniq
    assert_operator named.size, :>, 5
    assert_empty named - files
  end
end
