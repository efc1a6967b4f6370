# frozen_string_literal: true

require "test_helper"
require "json"
require "open3"
require "tmpdir"
require "support/own_gems_app"
require "support/packed_gems"
require "support/rails_app"

# Both gems as a user gets them, beside an app whose gems lie anywhere.
class GemTest < TunerTest
  time_limit 170

  test "they are built and installed without a warning, and each file compiles without one" do
    assert_equal ["WARNING:  no homepage specified", "WARNING:  See https://guides.rubygems.org/specification-reference/ for help"], PackedGems.built.scan(/^WARNING.*/).uniq
    refute_match(/warning/i, PackedGems.told)
    assert_includes PackedGems.told, "2 gems installed"
    logs = Dir["#{PackedGems.home}/extensions/**/gem_make.out"]
    assert_equal 2, logs.size
    logs.each { |path| refute_match(/warning:/, File.read(path)) }
  end

  test "installed, they load from where they are, and measure" do
    home = {GEM_HOME: PackedGems.home, GEM_PATH: [PackedGems.home, Bundler.bundle_path].join(":")} # the second: for csv and its like
    script = "require 'puma_tuner'; puts PumaTuner::Probe::GvlClock.start; puts $LOADED_FEATURES.grep(/puma_tuner_probe\\.so/)"
    started, loaded_from = PackedGems.ruby!("-e", script, **home).lines(chomp: true)
    assert_includes loaded_from, PackedGems.home
    assert_equal "true", started
    said, success = PackedGems.ruby("#{PackedGems.home}/bin/puma_tuner", "lab", "run", "yjit", "--quick", **home)
    assert_equal [false, "puma_tuner: #{PumaTuner::CLI::Commands::NO_LABS}\n"], [success, said]
  end

  # As an app whose bundle has the probe alone.
  test "installed, the process that forecasts beside a server finds the simulator, and needs neither a bundle nor RubyGems' settings" do
    script = <<~RUBY
      require "puma_tuner/probe"
      puts folder = PumaTuner::Probe::Forecasting.engine_folder
      asked = %q(require "rubygems"; require "puma_tuner"; p PumaTuner::ServerForecast.name, PumaTuner::Predict::Engine.why_not)
      supervisor = PumaTuner::Probe::Supervisor.new("forecast", script: asked, settings: {}, folders: [folder])
      $stdout.flush
      exec(supervisor.send(:environment), *supervisor.send(:command))
    RUBY
    probe = Dir["#{PackedGems.home}/gems/puma_tuner-probe-*/lib"].first
    folder, *told = PackedGems.ruby!("-I", probe, "-e", script, GEM_HOME: PackedGems.home, GEM_PATH: PackedGems.home).lines(chomp: true)
    assert_equal Dir["#{PackedGems.home}/gems/puma_tuner-#{PumaTuner::VERSION}/lib"].first, folder
    assert_equal ['"PumaTuner::ServerForecast"', "nil"], told
  end

  test "uninstalled, nothing is left; the probe not before what depends on it" do
    Dir.mktmpdir do |folder|
      PackedGems.install_into(folder)
      uninstall = ->(name) { PackedGems.ruby("-S", "gem", "uninstall", "--executables", name, GEM_HOME: folder) }
      left = -> { Dir["#{folder}/**/*puma_tuner*"].reject { |path| path.start_with?("#{folder}/cache/") } }
      refute uninstall.call("puma_tuner-probe").last
      %w[puma_tuner puma_tuner-probe].each { |name| uninstall.call(name).then { |output, success| assert success, output } }
      assert_empty left.call
    end
  end

  # @return [Hash{Symbol => Object}] what the app ran with
  def measure(app, *words, **environment)
    output, status = Open3.capture2e(app.shell(**environment), *words, "measure", "--load", "--settings", "none", "--duration", "0.5", "--warmup", "0.3", "--output", "o.json",
      "--", "bundle", "exec", "puma", chdir: app.folder, unsetenv_others: true)
    assert status.success?, output
    assert_operator PumaTuner::Document.read("#{app.folder}/o.json", :observation).budget.cpu_ns, :>, 0
    app.facts
  end

  test "installed for all apps, it measures one that has its gems elsewhere" do
    OwnGemsApp.open do |app|
      home = app.install("home", PackedGems::DEPENDENCIES)
      PackedGems.install_into(home)
      app.install("vendor/bundle/#{Gem.ruby_engine}/#{RbConfig::CONFIG["ruby_version"]}")
      app.write(".bundle/config", "---\nBUNDLE_PATH: \"vendor/bundle\"\n")
      facts = measure(app, "#{home}/bin/puma_tuner", GEM_HOME: home)
      facts.fetch(:gems).each { |path| assert path.start_with?("#{app.folder}/vendor/bundle"), path }
    end
  end

  test "in the app's own bundle it measures the app with that bundle, and with the user's settings of it" do
    OwnGemsApp.open do |app|
      home = app.install("home", PackedGems::DEPENDENCIES + OwnGemsApp::GEMS)
      PackedGems.install_into(home)
      app.write("app.gemfile", "#{File.read("#{app.folder}/Gemfile")}gem \"puma_tuner\"\n")
      facts = measure(app, "bundle", "exec", "puma_tuner", GEM_HOME: home, BUNDLE_GEMFILE: "#{app.folder}/app.gemfile", BUNDLE_WITHOUT: "nothing")
      facts.fetch(:gems).each { |path| assert path.start_with?(home), path }
      assert_equal ["nothing", "#{app.folder}/app.gemfile"], facts.fetch(:bundle).values_at(:BUNDLE_WITHOUT, :BUNDLE_GEMFILE)
    end
  end

  # Everything that may be in them.
  MAY_HOLD = {
    "puma_tuner-probe" => %r{\A(lib/.+\.rb|sig/.+\.rbs|ext/puma_tuner_probe/\w+\.(c|h|rb)|README\.md|LICENSE\.txt)\z},
    "puma_tuner" => %r{\A(lib/.+\.(rb|erb|css|html|js)|sig/.+\.rbs|ext/(puma_tuner_load|puma_tuner_sim|shared)/\w+\.(c|h|rb)|exe/puma_tuner|docs/.+\.md|docs/reference/schemas/\w+\.json|ops/.+\.(yml|json|sh)|man/puma_tuner\.1|(README|CHANGELOG|VOCABULARY)\.md|LICENSE\.txt)\z}
  }.freeze

  test "they hold what they need, and nothing that is not the project's" do
    %w[lib/puma_tuner.rb ext/puma_tuner_sim/sim.h exe/puma_tuner lib/puma_tuner/report/html/page.html.erb lib/puma_tuner/top/web/page.html man/puma_tuner.1 docs/reference/schemas/observation.json LICENSE.txt].each { |file| assert_includes PackedGems.files_of("puma_tuner"), file }
    %w[lib/puma_tuner/probe.rb lib/puma/plugin/puma_tuner.rb ext/puma_tuner_probe/gvl_clock.c ext/puma_tuner_probe/slot.h ext/puma_tuner_probe/build.rb README.md
      LICENSE.txt].each { |file| assert_includes PackedGems.files_of("puma_tuner-probe"), file }
    tracked, = Open3.capture2("git", "ls-files", chdir: PackedGems::PROJECT)
    MAY_HOLD.each do |name, pattern|
      files = PackedGems.files_of(name)
      assert_empty files.grep_v(pattern)
      assert_empty files.grep(%r{/lab[./]})
      assert_empty files.map { |file| (name == "puma_tuner") ? file : "probe/#{file}" } - tracked.lines(chomp: true)
    end
    assert_equal %w[LICENSE.txt README.md], PackedGems.files_of("puma_tuner") & PackedGems.files_of("puma_tuner-probe")
  end

  test "headers that both gems carry are the same" do
    Dir[File.join(PackedGems::PROJECT, "ext/shared/*")].each { |path| assert_equal File.read(File.join(PackedGems::PROJECT, "probe/ext/puma_tuner_probe", File.basename(path))), File.read(path) }
  end

  test "the probe depends on no gem" do
    assert_empty Dir.chdir(File.join(PackedGems::PROJECT, "probe")) { Gem::Specification.load("puma_tuner-probe.gemspec").runtime_dependencies }
  end

  test "every page that a message or a help text points to is in it" do
    files = PackedGems.files_of("puma_tuner")
    named = Dir[File.join(PackedGems::PROJECT, "{lib,probe/lib}/**/*.rb")].flat_map { |path| File.read(path).scan(%r{\b(?:docs|ops)/[\w/]+\.(?:md|yml|json)}) }.uniq
    assert_operator named.size, :>, 5
    assert_empty named - files
  end
end

# What a user of Rails does with both. It stands here as each file is run in a process of its own, and to build and install both takes half a minute.
class RailsAppTest < TunerTest
  time_limit 240

  LINE = /^puma srv tp \d+: cpu: [\d.]+% io: [\d.]+% gc: [\d.]+% gvlwait: [\d.]+%$/

  def self.app = @app ||= RailsApp.new

  def app = self.class.app

  # @return [Array(String, Hash, Hash)] what the server printed, what it had loaded, and what it had recorded
  def serve
    loaded = recorded = nil
    output = app.serve do |port, printed|
      get = ->(path) { Net::HTTP.get_response(URI("http://127.0.0.1:#{port}#{path}")).tap { |answer| assert_equal "200", answer.code, answer.body } }
      30.times { |number| assert_includes get.call("/articles/#{number % 3 + 1}").body, "Article #{number % 3}" }
      get.call("/articles")
      loaded, recorded = %w[/loaded /budget].map { |path| JSON.parse(get.call(path).body) }
      wait_until("its recommendation") { printed.include?("Recommended config") }
    end
    [output, loaded, recorded]
  end

  def assert_probe_alone(loaded)
    assert_equal %w[puma_tuner-probe], loaded.fetch("gems").grep(/puma_tuner/)
    files = loaded.fetch("files")
    ours = files.filter_map { |path| path[%r{\A#{app.home}/(?:gems|extensions/[^/]+/[^/]+)/(puma_tuner[^/]*)}, 1] }
    assert_equal ["puma_tuner-probe-#{PumaTuner::VERSION}"], ours.uniq
    assert_equal 1, files.grep(/puma_tuner_probe\.so\z/).size
    assert_empty files.grep(%r{\A#{PackedGems::PROJECT}/(lib|probe|ext)/}o)
    assert_empty loaded.fetch("gems") & PackedGems::DEPENDENCIES - %w[csv]
  end

  def assert_recorded(output, recorded)
    assert_operator output.scan(LINE).size, :>=, 1, output
    assert_match(/^Recommended config: puma -t 1:\d+$/, output)
    refute_match(/puma_tuner: /, output)
    assert_empty ["GET /articles", "GET /articles/:id"] - recorded.fetch("endpoints")
    assert_operator recorded.fetch("budget").fetch("cpu_ns"), :>, 0
  end

  test "with the lines of the probe's own page in puma.rb, it prints and can be asked, and nothing of the other gem is loaded" do
    page = File.read(Dir["#{app.home}/gems/puma_tuner-probe-*/README.md"].first)
    lines = page[/^    require "puma_tuner\/probe"\n    PumaTuner\.run .*at the end of puma\.rb$/].to_s.gsub(/^ {4}/, "")
    refute_empty lines
    app.write("gem \"puma_tuner-probe\"", puma_lines: "#{lines}\n")
    output, loaded, recorded = serve
    assert_recorded(output, recorded)
    assert_probe_alone(loaded)
  end

  test "the Railtie does it by a line of the Gemfile" do
    app.write("gem \"puma_tuner-probe\", require: \"puma_tuner/railtie\"")
    output, loaded, recorded = serve
    assert_recorded(output, recorded)
    assert_probe_alone(loaded)
  end

  test "the other gem's command tunes it" do
    app.write("gem \"puma_tuner-probe\"", puma_lines: "require \"puma_tuner/probe\"\nPumaTuner.run\n")
    output, status = Open3.capture2e(app.environment.except("RAILS_ENV", "BUNDLE_GEMFILE"), "#{app.home}/bin/puma_tuner", "tune", "--path", "/articles", "--duration", "1", "--warmup", "0.3",
      "--connections", "2", "--trial-duration", "0.5", "--rounds", "1", "--threads", "1..2", "--workers", "1..2", "--settings", "none", "--no-calibrate", "--output", "tuning.json", "--html", "report.html",
      "--", "env", "RAILS_ENV=production", "bundle", "exec", "puma", chdir: app.folder, unsetenv_others: true)
    # 3: what else happened on the machine ended the proof early, which is told.
    assert_includes [0, 3], status.exitstatus, output
    assert_path_exists File.join(app.folder, "tuning.json"), output
    tuning = PumaTuner::Document.read(File.join(app.folder, "tuning.json"), :tuning)
    assert_equal ["GET /articles"], tuning.observation.endpoints.map(&:name)
    assert_operator tuning.observation.budget.cpu_ns, :>, 0
    assert_equal %w[1x1 1x2 1x3 2x1 2x2], tuning.sweep.forecasts.map { |forecast| forecast.topology.to_s }
    assert_match(/^(Recommended|Proof)/, output)
    refute_empty tuning.advice_list.advice
    assert tuning.verdict || tuning.unproven
    assert_includes File.read(File.join(app.folder, "report.html")), "</html>"
  end
end
