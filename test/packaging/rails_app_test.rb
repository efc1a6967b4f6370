# frozen_string_literal: true

require "test_helper"
require "support/rails_app"

# What a user of Rails does with both packed gems.
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
      "--trial-duration", "0.5", "--rounds", "2", "--threads", "1..2", "--workers", "1..2", "--single-recording", "--no-calibrate", "--json", "tuning.json", "--html", "report.html",
      "--", "env", "RAILS_ENV=production", "bundle", "exec", "puma", chdir: app.folder, unsetenv_others: true)
    # 3: what else happened on the machine ended the proof early, which is told.
    assert_includes [0, 3], status.exitstatus, output
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
