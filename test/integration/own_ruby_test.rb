# frozen_string_literal: true

require "test_helper"
require "json"
require "open3"
require "support/own_gems_app"

# An app runs with its own Ruby, gems and settings of Bundler, whatever puma_tuner itself runs with.
class OwnRubyTest < TunerTest
  time_limit 90

  EXEC = File.expand_path("../../bin/exec", __dir__)

  def measure(app, *words, **environment)
    output, status = Open3.capture2e(app.shell(**environment), EXEC, "puma_tuner", "measure", "--load", "--settings", "none", "--duration", "0.5", "--warmup", "0.3",
      "--output", "#{app.folder}/observation.json", *words, chdir: app.folder, unsetenv_others: true)
    assert status.success?, output
    PumaTuner::Document.read("#{app.folder}/observation.json", :observation)
  end

  test "an app runs with its own GEM_HOME and the Ruby that a version manager chooses" do
    OwnGemsApp.open do |app|
      home = app.install("home")
      observation = measure(app, "--", "bundle", "exec", "puma", GEM_HOME: home, BUNDLE_WITHOUT: "nothing")
      assert_operator observation.requests_count, :>, 10
      facts = app.facts
      assert_equal "yes", facts.fetch(:chosen)
      assert_equal home, facts.fetch(:gem_home)
      facts.fetch(:gems).each { |path| assert path.start_with?(home), path }
      assert_empty facts.fetch(:ours)
      assert_equal "nothing", facts.dig(:bundle, :BUNDLE_WITHOUT)
      assert_equal [nil, nil], facts.fetch(:bundle).values_at(:BUNDLE_PATH, :BUNDLE_APP_CONFIG)
    end
  end

  test "an app runs with the gems that its .bundle/config names, from any folder" do
    OwnGemsApp.open do |app|
      app.install("vendor/bundle/#{Gem.ruby_engine}/#{RbConfig::CONFIG["ruby_version"]}")
      app.write(".bundle/config", "---\nBUNDLE_PATH: \"vendor/bundle\"\n")
      [["--directory", app.folder, "--", "bundle", "exec", "puma"], ["#{app.folder}/config.ru"]].each do |words|
        measure(app, *words)
        assert_equal "yes", app.facts.fetch(:chosen)
        app.facts.fetch(:gems).each { |path| assert path.start_with?("#{app.folder}/vendor/bundle"), path }
      end
    end
  end

  test "the probe is compiled for an app's own version of Ruby" do
    ruby = other_ruby("3.3.8")
    OwnGemsApp.open do |app|
      %w[ruby bundle].each { |name| app.write("shims/#{name}", "#!/bin/sh\nexec #{File.dirname(ruby)}/#{name} \"$@\"\n", perm: 0o755) }
      files = OwnGemsApp::GEMS.map { |name| Gem::Specification.find_by_name(name).then { |spec| File.join(spec.base_dir, "cache", "#{spec.full_name}.gem") } }
      output, status = Open3.capture2e(app.shell, ruby, "-S", "gem", "install", "--local", "--ignore-dependencies", "--no-document",
        "--install-dir", "#{app.folder}/home", *files, unsetenv_others: true)
      assert status.success?, output
      FileUtils.mkdir("#{app.folder}/cache") # with all of the other one, but what was compiled there
      FileUtils.ln_s(Dir["#{PumaTuner::Host::CacheFolder.path}/*"].grep_v(/extensions\z/), "#{app.folder}/cache")
      observation = measure(app, "--", "bundle", "exec", "puma", GEM_HOME: "#{app.folder}/home", PUMA_TUNER_CACHE: "#{app.folder}/cache")
      assert_equal "3.3.8", observation.server.ruby_version
      assert_equal "3.3.8", app.facts.fetch(:ruby)
      refute_nil observation.budget.gvl_wait_ns
    end
  end
end
