# frozen_string_literal: true

require "test_helper"
require "tmpdir"

class LabBundleTest < TunerTest
  Bundle = PumaTuner::Lab::Bundle

  def setup
    @folder = Dir.mktmpdir("puma_tuner-test")
    File.write(File.join(@folder, "Gemfile"), "source Gem.sources.to_a.first\ngem \"no_such_gem\", \"1.0\"\n")
    @cache = ENV["PUMA_TUNER_CACHE"]
    ENV["PUMA_TUNER_CACHE"] = @folder
  end

  def teardown
    ENV["PUMA_TUNER_CACHE"] = @cache
    FileUtils.rm_rf(@folder)
  end

  def lab(*bundles) = Struct.new(:name, :list) { def bundles(quick:) = list }.new("shop_lab", bundles)

  test "a Gemfile of the lab's that is not installed is refused before anything runs, with what installs it" do
    bundle = Bundle.of({"gemfile" => "Gemfile", "gem.json" => "2.7.2"}, folder: @folder)
    refute bundle.installed?
    error = assert_raises(PumaTuner::UsageError) { Bundle.ensure_installed(lab(bundle, bundle), quick: true) }
    assert_match(/\Athe lab shop_lab needs what is not installed: #{@folder}\/Gemfile with json 2\.7\.2\. Run: puma_tuner lab setup shop_lab --quick\z/, error.message)
    assert_raises(PumaTuner::UsageError) { bundle.around({}, []) unless bundle.ensure_installed }
  end

  test "an application elsewhere keeps the gems that its own set-up has installed" do
    Dir.mktmpdir do |elsewhere|
      bundle = Bundle.of({"gemfile" => "#{@folder}/Gemfile"}, folder: elsewhere)
      assert bundle.installed?
      environment, words = bundle.around({"A" => "1"}, [Gem.ruby, "-S", "puma", "x.ru"])
      assert_equal({"A" => "1", "BUNDLE_GEMFILE" => "#{@folder}/Gemfile"}, environment)
      assert_equal [Gem.ruby, "-S", "bundle", "exec", "puma", "x.ru"], words
    end
  end

  test "a lab without applications needs no Gemfile" do
    assert_empty Bundle.needed(Object.new, quick: false)
  end
end
