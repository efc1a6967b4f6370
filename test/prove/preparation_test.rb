# frozen_string_literal: true

require "test_helper"
require "tmpdir"

# Variants as commands. Those that need a checkout or gems are in test/integration.
class PreparationTest < TunerTest
  include PumaTuner

  def setup
    @folder = File.realpath(Dir.mktmpdir)
    %w[config.ru other.ru puma.rb].each { |name| File.write(File.join(@folder, name), "# #{name}") }
  end

  def teardown = FileUtils.rm_rf(@folder)

  def ready(environment: {"PATH" => "/bin"}, **factors)
    variant = Prove::Variant.new(name: "a", factors: factors.transform_keys(&:to_s))
    command = Host::Command.new(words: [Gem.ruby, "-S", "puma", "config.ru"], directory: @folder, environment:)
    Prove::Preparation.new(variants: [variant], command:, rackup: File.join(@folder, "config.ru"), folder: @folder).call(variant)
  end

  def mistake(**factors) = assert_raises(UsageError) { ready(**factors) }.message

  test "a variant without factors is the command as it is" do
    found = ready
    assert_equal [Gem.ruby, "-S", "puma", "config.ru"], found.command.words
    assert_nil found.topology
    refute found.other_server
    assert_equal({"PATH" => "/bin"}, found.command.environment)
  end

  test "a variant can set the environment and flags" do
    found = ready("env.A": "1", rubyopt: "--yjit-mem-size=64", environment: {"RUBYOPT" => "-w"}).command.environment
    assert_equal({"A" => "1", "RUBYOPT" => "-w --yjit-mem-size=64"}, found)
    assert_equal "1", ready(yjit: "on").command.environment["RUBY_YJIT_ENABLE"]
    assert_equal "1", ready(yjit: "off").command.environment[PumaTuner::Probe::YjitOff::VARIABLE]
    refute_includes ready(yjit: "on").command.environment, PumaTuner::Probe::YjitOff::VARIABLE
    refute_includes ready(yjit: "off", environment: {"RUBY_YJIT_ENABLE" => "1"}).command.environment, "RUBY_YJIT_ENABLE"
  end

  test "a variant can set Puma's options" do
    found = ready(topology: "2x5", "puma.queue_requests": "false", config: "puma.rb")
    assert_equal Topology.parse("2x5"), found.topology
    assert_equal({"queue_requests" => "false", "config" => File.join(@folder, "puma.rb")}, found.puma_options)
    assert_equal({"threads" => "1:5", "workers" => "2"}, ready(threads: "1:5", workers: "2").puma_options)
  end

  test "a variant can run another app, another server or another Ruby" do
    assert_equal File.join(@folder, "other.ru"), ready(app: "other.ru").command.words.last
    other = ready(command: "ruby server.rb -p {port}")
    assert_equal %w[ruby server.rb -p {port}], other.command.words
    assert other.other_server
  end

  test "the content of a named file is part of what ran" do
    refute_equal ready.facts.fetch([:file, "app"]), ready(app: "other.ru").facts.fetch([:file, "app"])
    assert_match(/\A\h{12}\z/, ready(config: "puma.rb").facts.fetch([:file, "config"]))
  end

  test "a set-up command that fails ends it, with its words" do
    assert_match(/setup=sh -c "echo why; exit 1" failed\.\nIts last lines:\n  \| why/, mistake(setup: %(sh -c "echo why; exit 1")))
    assert_match(/could not be started/, mistake(setup: "no-such-program"))
  end

  test "a factor that names something missing is a usage error" do
    assert_match(/app=none.ru: there is no such file/, mistake(app: "none.ru"))
    assert_match(/app=none.ru: there is no such file/, mistake(app: "none.ru", command: "serve {port}"))
    assert_match(/config=none.rb/, mistake(config: "none.rb"))
    assert_match(/no such Ruby.*ruby-9.9.9/m, mistake(ruby: "9.9.9"))
    assert_match(/libjemalloc2/, mistake(preload: "libnone.so"))
    assert_match(/git rev-parse failed/, mistake(git: "HEAD"))
  end
end
