# frozen_string_literal: true

require "test_helper"
require "support/command_line"
require "support/served_app"

# puma_tuner tradeoff on a real server, as short as can be.
class TradeoffIntegrationTest < TunerTest
  include CommandLine

  time_limit 400

  QUICK = %w[--rounds 1 --duration 0.5 --connections 2 --thresholds 5 --yjit-memory 8 --busy-machine --path /work --warmup-limit 3].freeze

  test "YJIT off and on are compared, with a report" do
    # As Rails does: the app turns YJIT on by itself.
    ServedApp.open(rackup: "RubyVM::YJIT.enable; run ->(env) { 30_000.times { |i| i.to_s + 'x' }; [200, {}, ['fine']] }") do |app|
      result = puma_tuner("tradeoff", "yjit", *QUICK, "--for-workers", "3", "--html", "y.html", "config.ru", folder: app.folder)
      assert_equal 0, result.code, result.err
      study = PumaTuner::Document.read(File.join(app.folder, "tmp/puma_tuner/yjit.json"), :tradeoff)
      assert_equal ["YJIT off", "YJIT on", "YJIT on with 8 MiB", "YJIT on after 5 calls"], study.points.map(&:variant)
      assert_nil study.baseline.code_bytes
      study.points.drop(1).each { |point| assert_operator point.code_bytes, :>, 0 }
      study.points.drop(1).each { |point| assert_operator point.cpu_ratio.value, :>, 0 }
      assert_match(/For 3 workers: at most about/, result.out)
      assert_includes File.read(File.join(app.folder, "y.html")), "Pareto"
      assert_empty processes_in(app.folder)
    end
  end

  test "mistakes are answered with what to do" do
    ServedApp.open do |app|
      {["--with", "malloc"] => /--with means something else now; name several subjects instead/, ["--yjit-memory", "x"] => /--yjit-memory x: write a whole number/, ["--topology", "none"] => /none/,
       ["--workers", "2"] => /write --for-workers/, ["--for-workers", "many"] => /--for-workers many: write a whole number/, ["--memory", "x"] => /--memory x: write a size with its unit/}.each do |words, pattern|
        assert_mistake(pattern, puma_tuner_in_fork("tradeoff", "yjit", *words, "--rounds", "1", "config.ru", folder: app.folder))
      end
      assert_mistake(/unknown subject magic; choose from yjit, malloc, gc/, puma_tuner_in_fork("tradeoff", "yjit,magic", folder: app.folder))
      File.unlink(File.join(app.folder, "config.ru"))
      assert_mistake(/no app given/, puma_tuner_in_fork("gc", folder: app.folder))
    end
  end
end
