# frozen_string_literal: true

require "test_helper"
require "advise/apps"

# What is advised of small real apps, each made for one rule, by their recordings (record.rb makes them).
class RecordedAppsTest < TunerTest
  include PumaTuner

  FOLDER = File.expand_path("../fixtures/advise", __dir__)

  # Of each recording, the rules that have something to say, besides the one about workers and threads.
  EXPECTED = {
    "cpu" => [], "io" => [], "realistic" => [],
    "starved_pool" => %w[starved_pool], "lock" => %w[lock_bound], "many_queries" => %w[queries],
    "small_files" => %w[affinity short_releases], "upstream" => %w[io_bound], "garbage" => %w[gc],
    "slow_endpoint" => %w[spoiling_endpoint long_bursts], "background" => %w[background_threads],
    "io_threads" => %w[puma_version], "one_thread_workers" => %w[puma_version],
    "yjit_full" => %w[yjit_memory gc], "kept_connections" => %w[keep_alive], "no_preload" => %w[preload]
  }.freeze

  # What no app can make by itself: how it is hosted.
  HOSTED = {
    "cpu_quota" => ["kept_connections", ->(observation) { observation.with(machine: observation.machine.with(cpu_quota_cores: 1.0)) }, {}],
    "memory_growth" => ["io", :itself.to_proc, {max_memory_bytes: 90 << 20}],
    "malloc" => ["upstream", :itself.to_proc, {max_memory_bytes: 40 << 20}]
  }.freeze

  def observation(name) = Document.read("#{FOLDER}/#{name}.json", :observation)

  # Forecasts of today's setting and of few others, with few seeds. They are not held against the recording, which was made
  # beside whatever else the machine did.
  #
  # @return [Advise::AdviceList]
  def advise(observation, **constraints)
    workload = Model::WorkloadFit.workload(observation).with(recorded: [])
    sweeper = Predict::Sweeper.new(workload:, machine: Model::MachineFit.machine(observation, calibrated: nil), seed: 1, seeds_count: 5, requests_count: 1_500)
    scenarios = [observation.topology, Topology.from(1, 1), Topology.from(2, 3)].uniq.map { |topology| Predict::Scenario.of(topology, workload.arrivals) }
    Advise::Advisor.new(Advise::Constraints.new(**constraints)).call(workload, sweeper.call(scenarios), observation:, sweeper:)
  end

  # @return [Advise::AdviceList] made once
  def advice_of(name) = (@@lists ||= {})[name] ||= advise(observation(name))

  def rules(list) = list.advice.map(&:rule).uniq - %w[topology]

  EXPECTED.each do |name, expected|
    test "of the app #{name} is said what concerns it, and nothing else" do
      list = advice_of(name)
      assert_equal expected, rules(list), list.advice.map { |advice| Report::AdviceWords.words(advice.title) }.join("\n")
    end
  end

  HOSTED.each do |rule, (name, change, constraints)|
    test "#{rule} speaks where the same app is hosted so, and not elsewhere" do
      assert_includes rules(advise(change.call(observation(name)), **constraints)), rule
      refute_includes EXPECTED.values.flatten, rule
    end
  end

  test "each rule speaks of an app that was made for it, and is silent on five others at least" do
    Advise::Rules::PATHS.each_value.map { |path| File.basename(path, ".rb") }.reject { |rule| rule == "topology" }.each do |rule|
      assert HOSTED.key?(rule) || EXPECTED.values.any? { |rules| rules.include?(rule) }, "no app is made for #{rule}"
      assert_operator EXPECTED.values.count { |rules| !rules.include?(rule) }, :>=, 5, rule
    end
  end

  test "every app has a recording, and every recording an app" do
    assert_equal AdvisedApps::ALL.keys.sort, Dir.children(FOLDER).map { |file| File.basename(file, ".json") }.sort
    assert_equal EXPECTED.keys.sort, AdvisedApps::ALL.keys.sort
  end

  test "all advice says what to do, what it takes and how to go back, in words and without anything missing" do
    told = EXPECTED.keys.flat_map { |name| advice_of(name).advice }.map { |advice| Report::AdviceWords.of(advice) }
    told.flat_map { |advice| [advice.title, advice.change, advice.cost, advice.undo, *advice.evidence] }.each do |sentence|
      refute_match(/\bnil\b|  |NaN|Infinity|\(\)/, sentence)
      refute_empty sentence
    end
  end

  test "lines for puma.rb and factors are such as Puma and prove take" do
    advice = EXPECTED.keys.flat_map { |name| advice_of(name).advice }
    lines = advice.filter_map { |one| one.lines["config/puma.rb"] }
    assert_operator lines.size, :>=, 5
    lines.each { |text| assert_same true, !!RubyVM::InstructionSequence.compile(text) }
    factors = advice.map(&:factors).reject(&:empty?)
    assert_operator factors.size, :>=, 5
    factors.each do |one|
      words = one.map { |key, value| "#{key}=#{value}" }.join(",")
      assert_equal one, Prove::VariantParser.parse(["today:", "advised:#{words}"]).last.factors
    end
  end
end
