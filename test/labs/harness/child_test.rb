# frozen_string_literal: true

require "test_helper"
require "support/command_line"

class LabChildTest < TunerTest
  include PumaTuner
  include CommandLine

  def in_folder(source)
    Dir.mktmpdir do |folder|
      File.write(File.join(folder, "program.rb"), source)
      yield folder
    end
  end

  def answer(folder, *words, factors: {}, **options)
    variant = Prove::Variant.new(name: "it", factors:)
    command = Lab::Commands.new(folder:, variants: [variant]).call(variant)
    Lab::Child.call(command, File.join(folder, "program.rb"), words, **options)
  end

  test "what the program prints is its result, and its words and factors reach it" do
    in_folder('require "json"; puts JSON.generate([ARGV, ENV["COLOUR"], defined?(RubyVM::YJIT) && RubyVM::YJIT.enabled?])') do |folder|
      assert_equal [%w[one two], "red", true], answer(folder, "one", "two", factors: {"env.COLOUR" => "red", "yjit" => "on"})
    end
  end

  test "nothing of our gems and flags reaches it" do
    in_folder('require "json"; puts JSON.generate([ENV.keys.grep(/\A(BUNDLE|RUBYOPT|RUBYLIB)/), Gem.loaded_specs.keys, Gem.path.any? { |path| path.include?("puma_tuner/gems-") }])') do |folder|
      variables, gems, ours = answer(folder)
      assert_empty variables
      assert_empty gems & %w[bundler puma rack]
      refute ours
    end
  end

  # Instants are drawn, as any may be the wrong one; of the ones that matter, right after the program has begun, many.
  test "an interruption at any instant of its beginning ends it" do
    stop = Class.new(Interrupt) # Dir.tmpdir takes any StandardError for a folder that is not there
    random = Random.new(1)
    in_folder("sleep 60") do |folder|
      command = Host::Command.new(words: [RbConfig.ruby, "--disable-gems"], directory: folder, environment: {})
      # This loads all that a call needs. Where this test is a seed's first, `require "json"` would be interrupted instead, which begins
      # anew each time, with warnings.
      assert_raises(MeasurementFailed) { Lab::Child.call(command, File.join(folder, "program.rb"), limit_s: 0) }
      300.times do
        calling = Thread.new { Lab::Child.call(command, File.join(folder, "program.rb")) }.tap { |thread| thread.report_on_exception = false }
        sleep(random.rand(0.0015))
        calling.raise(stop)
        assert_raises(stop) { flunk "it waits for what never comes" unless calling.join(TIME_LIMIT_S / 2) }
      end
      assert_empty processes_in(folder)
    end
  end

  test "a program that fails is told with its last lines" do
    in_folder('warn "no such schema"; exit 3') do |folder|
      mistake = assert_raises(MeasurementFailed) { answer(folder) }
      assert_match(/exit 3/, mistake.message)
      assert_match(/no such schema/, mistake.message)
    end
  end

  test "a program that prints something else, or nothing, is a mistake" do
    ['puts "hello"', ""].each { |source| in_folder(source) { |folder| assert_match(/no JSON/, assert_raises(MeasurementFailed) { answer(folder) }.message) } }
  end

  test "one that takes too long is stopped, with what it started" do
    in_folder('spawn("sleep", "60"); sleep 60') do |folder|
      mistake = assert_raises(MeasurementFailed) { answer(folder, limit_s: 1) }
      assert_match(/longer than 1 s/, mistake.message)
      assert_empty processes_in(folder)
    end
  end

  test "one that is interrupted is gone before the interruption goes on" do
    in_folder("sleep 60") do |folder|
      running = Thread.new { answer(folder) }
      running.report_on_exception = false
      wait_until("it runs") { processes_in(folder).any? }
      running.raise(Interrupt)
      assert_raises(Interrupt) { running.join }
      assert_empty processes_in(folder)
    end
  end
end
