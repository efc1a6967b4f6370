# frozen_string_literal: true

require "tmpdir"
require "support/served_app"

# Block files in a folder of their own, and trials of them: real processes, as short as can be.
module BlockTrials
  Prove = PumaTuner::Prove

  ENVIRONMENT = Bundler.unbundled_env.merge(ServedApp::BASE_ENVIRONMENT).compact.freeze

  # @return [String] a folder that lives as long as the test
  def folder = @folder ||= Dir.mktmpdir("puma_tuner-test")

  def teardown
    FileUtils.remove_entry(@folder) if @folder
    super
  end

  # @return [String] the path
  def write(text, name: "bench.rb") = File.join(folder, name).tap { |path| File.write(path, text) }

  # @return [String] what the block file wrote into the test's folder
  def read(name) = File.read(File.join(folder, name))

  def command(*words, **environment)
    words = [RbConfig.ruby] if words.empty?
    PumaTuner::Host::Command.new(words:, directory: folder, environment: ENVIRONMENT.merge(environment.transform_keys(&:to_s)))
  end

  def variant(name = "today", **factors) = Prove::Variant.new(name:, factors: factors.transform_keys(&:to_s))

  def runner(text, commands: ->(_) { command }, warmup_limit_s: 0.1, duration_s: 0.1, **limits)
    Prove::BlockRunner.new(file: write(text), commands:, warmup_limit_s:, duration_s:, boot_limit_s: 20, **limits)
  end

  # @return [Prove::Trial]
  def trial(text, variant = variant(), **) = runner(text, **).call(variant, round: 0, position: 0)

  # @return [String] of the mistake
  def mistake(&) = assert_raises(PumaTuner::UsageError, &).message

  def alive?(pid) = PumaTuner::Probe::Processes.alive?(pid)
end
