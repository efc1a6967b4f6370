# frozen_string_literal: true

require "test_helper"
require "open3"
require "tmpdir"
require "support/own_gems_app"

# Both gems as a user gets them: built, installed into an empty place, used from there.
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

  PROBE = "probe/puma_tuner-probe.gemspec"
  BOTH = [PROBE, "puma_tuner.gemspec"].freeze

  # @param folder [String] that becomes a GEM_HOME
  def install_into(folder, gemspecs = BOTH)
    Dir.mktmpdir do |packages|
      gemspecs.each do |gemspec|
        package = File.join(packages, "#{File.basename(gemspec, ".gemspec")}.gem")
        ruby("-C", File.join(PROJECT, File.dirname(gemspec)), "-S", "gem", "build", File.basename(gemspec), "--output", package)
        ruby("-S", "gem", "install", "--local", "--ignore-dependencies", "--no-document", "--install-dir", folder, package, environment: {"GEM_HOME" => folder})
      end
    end
  end

  def files_of(gemspec)
    Dir.chdir(File.join(PROJECT, File.dirname(gemspec))) { Gem::Specification.load(File.basename(gemspec)).files }
  end

  test "it installs with its extension, and measures" do
    Dir.mktmpdir do |folder|
      install_into(folder)
      home = {"GEM_HOME" => folder, "GEM_PATH" => [folder, Bundler.bundle_path].join(":")} # the second: for dry-cli and its like
      script = "require 'puma_tuner'; puts PumaTuner::Probe::GvlClock.start; puts $LOADED_FEATURES.grep(/puma_tuner_probe\\.so/)"
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

  test "they hold what they need, and neither tests nor built files" do
    files = BOTH.to_h { |gemspec| [gemspec, files_of(gemspec)] }
    %w[lib/puma_tuner.rb ext/puma_tuner_sim/sim.h exe/puma_tuner lib/puma_tuner/report/html/page.html.erb LICENSE.txt].each { |file| assert_includes files["puma_tuner.gemspec"], file }
    %w[lib/puma_tuner/probe.rb lib/puma/plugin/puma_tuner.rb ext/puma_tuner_probe/gvl_clock.c ext/puma_tuner_probe/slot.h ext/puma_tuner_probe/build.rb README.md
      LICENSE.txt].each { |file| assert_includes files[PROBE], file }
    assert_empty files.values.flatten.grep(/\.so\z|\Atest|\Aprobe|\.o\z/)
    assert_empty files.values.reduce(:&) - ["LICENSE.txt", "README.md"]
  end

  test "headers that both gems carry are the same" do
    Dir[File.join(PROJECT, "ext/shared/*")].each { |path| assert_equal File.read(File.join(PROJECT, "probe/ext/puma_tuner_probe", File.basename(path))), File.read(path) }
  end

  test "the probe depends on no gem" do
    assert_empty Dir.chdir(File.join(PROJECT, "probe")) { Gem::Specification.load("puma_tuner-probe.gemspec").runtime_dependencies }
  end

  RAILS = File.join(PROJECT, "gemfiles/rails_8_1.gemfile")

  test "in a Rails app whose Gemfile names the probe alone, it prints, and the command of the other gem tunes the app" do
    OwnGemsApp.open do |app|
      home = app.install("home", DEPENDENCIES + OwnGemsApp::GEMS)
      install_into(home)
      app.write("app.gemfile", "#{File.read("#{app.folder}/Gemfile")}gem \"puma_tuner-probe\"\n")
      app.write("puma.rb", "threads 2, 2\nrequire \"puma_tuner/probe\"\nPumaTuner.run(interval_s: 0.5)\n")
      environment = app.shell(GEM_HOME: home, BUNDLE_GEMFILE: "#{app.folder}/app.gemfile")
      output, status = Open3.capture2e(environment, "#{home}/bin/puma_tuner", "tune", "--path", "/", "--warmup", "0.3", "--duration", "0.5", "--trial-duration", "1", "--rounds", "2",
        "--threads", "1..2", "--workers", "1..2", "--", "bundle", "exec", "puma", "-C", "puma.rb", chdir: app.folder, unsetenv_others: true)
      assert_includes [0, 1, 3], status.exitstatus, output
      assert_match(/threads/, output)
    end
  end

  test "every page that a message or a help text points to is in it" do
    files = files_of("puma_tuner.gemspec")
    named = Dir[File.join(PROJECT, "{lib,probe/lib}/**/*.rb")].flat_map { |path| File.read(path).scan(%r{\b(?:docs|ops)/[\w/]+\.(?:md|yml|json)}) }.uniq
    assert_operator named.size, :>, 5
    assert_empty named - files
  end
end
