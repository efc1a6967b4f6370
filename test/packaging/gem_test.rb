# frozen_string_literal: true

require "test_helper"
require "open3"
require "tmpdir"
require "support/own_gems_app"

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

  # @param folder [String] that becomes a GEM_HOME
  def install_into(folder)
    Dir.mktmpdir do |packages|
      package = File.join(packages, "puma_tuner.gem")
      ruby("-S", "gem", "build", "puma_tuner.gemspec", "--output", package)
      ruby("-S", "gem", "install", "--local", "--ignore-dependencies", "--no-document", "--install-dir", folder, package, environment: {"GEM_HOME" => folder})
    end
  end

  test "it installs with its extension, and measures" do
    Dir.mktmpdir do |folder|
      install_into(folder)
      home = {"GEM_HOME" => folder, "GEM_PATH" => [folder, Bundler.bundle_path].join(":")} # the second: for dry-cli and its like
      script = "require 'puma_tuner'; puts PumaTuner::Measure::GvlClock.start; puts $LOADED_FEATURES.grep(/puma_tuner\\.so/)"
      started, loaded_from = ruby("-e", script, environment: home).lines(chomp: true)
      assert_includes loaded_from, File.realpath(folder)
      assert_equal "true", started
    end
  end

  DEPENDENCIES = %w[csv dry-cli ruby-progressbar].freeze

  # @return [Hash{Symbol => Object}] what the app ran with
  def measure(app, *words, **environment)
    output, status = Open3.capture2e(app.shell(**environment), *words, "measure", "--load", "--duration", "0.5", "--warmup", "0.3", "--output", "o.json",
      "--", "bundle", "exec", "puma", chdir: app.folder, unsetenv_others: true)
    assert status.success?, output
    assert_operator PumaTuner::Document.read("#{app.folder}/o.json", :observation).budget.cpu_ns, :>, 0
    app.facts
  end

  test "installed for all apps, it measures one that has its gems elsewhere" do
    OwnGemsApp.open do |app|
      home = app.install("home", DEPENDENCIES)
      install_into(home)
      app.install("vendor/bundle/#{Gem.ruby_engine}/#{RbConfig::CONFIG["ruby_version"]}")
      app.write(".bundle/config", "---\nBUNDLE_PATH: \"vendor/bundle\"\n")
      facts = measure(app, "#{home}/bin/puma_tuner", GEM_HOME: home)
      facts.fetch(:gems).each { |path| assert path.start_with?("#{app.folder}/vendor/bundle"), path }
    end
  end

  test "in the app's own bundle it measures the app with that bundle, and with the user's settings of it" do
    OwnGemsApp.open do |app|
      home = app.install("home", DEPENDENCIES + OwnGemsApp::GEMS)
      install_into(home)
      app.write("app.gemfile", "#{File.read("#{app.folder}/Gemfile")}gem \"puma_tuner\"\n")
      facts = measure(app, "bundle", "exec", "puma_tuner", GEM_HOME: home, BUNDLE_GEMFILE: "#{app.folder}/app.gemfile", BUNDLE_WITHOUT: "nothing")
      facts.fetch(:gems).each { |path| assert path.start_with?(home), path }
      assert_equal ["nothing", "#{app.folder}/app.gemfile"], facts.fetch(:bundle).values_at(:BUNDLE_WITHOUT, :BUNDLE_GEMFILE)
    end
  end

  test "it holds what it needs, and neither tests nor built files" do
    files = Gem::Specification.load(File.join(PROJECT, "puma_tuner.gemspec")).files
    %w[lib/puma_tuner.rb lib/puma/plugin/puma_tuner.rb ext/puma_tuner/gvl_clock.c ext/puma_tuner/slot.h ext/puma_tuner/build.rb exe/puma_tuner
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
