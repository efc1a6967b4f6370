# frozen_string_literal: true

require "test_helper"
require_relative "block_trials"

class BlockRunnerTest < TunerTest
  include BlockTrials

  test "a trial tells every metric, the warm-up and what ran" do
    trial = trial('block("work") { 100.times { |i| i.to_s } }', variant("today"))
    assert_nil trial.void
    assert_equal [Prove::Metric::BLOCK.map(&:name).sort, "today"], [trial.values.keys.sort, trial.variant]
    trial.values.except("gc_per_iteration").each { |name, value| assert_operator value, :>, 0, name }
    assert_operator trial.requests_count, :>, 10
    assert_equal [1, 1], [trial.warmup.windows_count, trial.warmup.cpu_per_request_ns.size]
    assert_equal ["work", "ruby #{RUBY_VERSION} #{RUBY_PLATFORM}"], trial.fingerprint.values_at([:block, nil], [:ruby, nil])
    assert(trial.fingerprint.all? { |name, text| name.first.is_a?(Symbol) && text.is_a?(String) })
  end

  test "figures agree with each other" do
    began_s = monotonic_s
    trial = trial("block { 1_000.times { |i| i.to_s } }", duration_s: 0.3)
    iterations, cpu_ns = trial.values.values_at("iterations", "cpu_per_iteration")
    assert_operator iterations * cpu_ns, :<, 1.1e9, "more than a core's time"
    # Of the time that they took, which is what was asked for at least.
    assert_includes (trial.requests_count / (monotonic_s - began_s))..(trial.requests_count / 0.3), iterations
  end

  test "a tenth of the wait is many times the iterations" do
    slow, fast = [0.05, 0.005].map { |seconds| trial("block { sleep #{seconds} }", duration_s: 0.3).values["iterations"] }
    # A sleep may last longer, and never shorter.
    assert_operator slow, :<=, 1 / 0.05
    assert_operator fast, :<=, 1 / 0.005
    assert_operator fast, :>, 2 * slow
  end

  test "sleep takes no CPU, work does" do
    rest_ns, work_ns = ["sleep 0.01", "t = Process.clock_gettime(2); nil until Process.clock_gettime(2) - t > 0.005"].map { |text| trial("block { #{text} }").values["cpu_per_iteration"] }
    assert_operator work_ns, :>=, 5_000_000
    assert_operator rest_ns, :<, work_ns / 2
  end

  test "CPU of all threads is counted" do
    busy = "t = Process.clock_gettime(2); nil until Process.clock_gettime(2) - t > 0.005"
    assert_operator trial("block { Thread.new { #{busy} }.join }").values["cpu_per_iteration"], :>=, 4_000_000
  end

  test "allocations are exact" do
    assert_in_delta 1.0, trial("block { Object.new }").values["allocations_per_iteration"], 0.05
    assert_in_delta 3.0, trial("block { sleep 0.01; Object.new; Object.new; Object.new }").values["allocations_per_iteration"], 0.05
    assert_in_delta 0.0, trial("block { nil }").values["allocations_per_iteration"], 0.001
  end

  test "GC is told apart from the rest" do
    quiet, busy = ["nil", "Array.new(1_000) { Object.new }"].map { |text| trial("block { #{text} }", duration_s: 0.3) }
    assert_operator busy.values["gc_per_iteration"], :>, 0
    assert_operator busy.values["gc_per_iteration"], :<, busy.values["cpu_per_iteration"]
    assert_equal 0, quiet.values["gc_per_iteration"]
  end

  COUNTED = 'COUNT = [0]; at_exit { File.write(File.join(__dir__, "count"), COUNT[0].to_s) };'

  test "every iteration is counted, by whoever repeats" do
    ["block { COUNT[0] += 1 }", "block { |count| COUNT[0] += count }"].each do |text|
      trial = trial(COUNTED + text)
      assert_equal read("count").to_i, trial.warmup.requests_count + trial.requests_count, text
    end
  end

  test "a block that repeats itself allocates as often as it is told to" do
    trial = trial("block { |count| count.times { Object.new } }")
    assert_in_delta 1.0, trial.values["allocations_per_iteration"], 0.05
  end

  test "each trial has a process of its own" do
    runner = runner(<<~'RUBY')
      File.write(File.join(__dir__, "pids"), "#{Process.pid}\n", mode: "a")
      block { sleep 0.01 }
    RUBY
    2.times { |round| runner.call(variant, round:, position: 0) }
    pids = read("pids").split.map(&:to_i)
    assert_equal 2, (pids - [Process.pid]).uniq.size
    assert_empty pids.select { |pid| alive?(pid) }
  end

  test "runs with the variant's environment, flags and folder" do
    text = 'block("b") { sleep 0.01 }; raise unless ENV["MARK"] == "here" && Dir.pwd == File.realpath(__dir__)'
    commands = ->(variant) { command(RbConfig.ruby, *variant.factors["rubyopt"], MARK: "here") }
    states = ["--yjit", "--disable-yjit"].map { |flag| trial(text, variant(rubyopt: flag), commands:).fingerprint[[:yjit, nil]] }
    assert_equal ["on", "off"], states
  end

  test "runs with the variant's gems" do
    commands = ->(variant) { command("bundle", "exec", "ruby", BUNDLE_GEMFILE: gemfile(variant.factors.fetch("gem.tiny"))) }
    %w[1.0.0 2.0.0].each do |version|
      trial = trial('require "tiny"; block { TINY }', variant("gem.tiny": version), commands:)
      assert_equal [nil, version], [trial.void, trial.fingerprint[[:gem, "tiny"]]]
    end
  end

  # @return [String] path of a Gemfile with the gem "tiny" in that version
  def gemfile(version)
    Dir.mkdir(File.join(folder, version))
    write("TINY = 1", name: "#{version}/tiny.rb")
    write(<<~RUBY, name: "#{version}/tiny.gemspec")
      Gem::Specification.new("tiny", "#{version}") { |spec| spec.summary = spec.author = "-"; spec.require_paths = ["."] }
    RUBY
    write("gem \"tiny\", path: __dir__", name: "#{version}/Gemfile")
  end

  test "loads no gem of its own, not even json, whose version the variant may choose" do
    trial = trial('raise "json" if defined?(JSON); block("b") { sleep 0.01; raise "json" if defined?(JSON) }')
    assert_nil trial.void
    assert_empty trial.fingerprint.keys.flatten.grep(/json/)
  end

  test "runs in the bundle of an app that has this gem in it" do
    trial = trial("block { nil }", commands: ->(_) { command("bundle", "exec", "ruby", BUNDLE_GEMFILE: "#{ServedApp::PROJECT}/Gemfile") })
    assert_equal [nil, PumaTuner::VERSION], [trial.void, trial.fingerprint[[:gem, "puma_tuner"]]]
  end

  test "several blocks are told apart by the variant" do
    text = 'block("one") { Object.new }; block("two") { [Object.new] }'
    allocated = %w[one two].map { |name| trial(text, variant(block: name)).values["allocations_per_iteration"].round }
    assert_equal [1, 2], allocated
  end

  test "several blocks and none chosen, or one that is not there, is a mistake" do
    text = 'block("one") { 1 }; block("two") { 2 }'
    assert_match(/several blocks, and none was chosen; the file declares "one", "two"/, mistake { trial(text) })
    assert_match(/no block "three"; the file declares "one", "two"/, mistake { trial(text, variant(block: "three")) })
  end

  test "a block may print" do
    out, err = capture_subprocess_io do
      assert_nil trial('block { puts "x" * 200; $stderr.puts "y" * 200 }').void
    end
    assert_equal ["", ""], [out, err]
  end

  test "the machine's part is told" do
    conditions = trial("block { nil }").conditions
    assert_includes 0..1, conditions.fetch("run_queue_wait_ratio")
    assert_includes 0..1, conditions.fetch("foreign_cpu_ratio")
  end

  test "memory is told from window to window" do
    trial = trial("LEAK = []; block { LEAK << \"x\" * 100_000; sleep 0.001 }", warmup_limit_s: 1)
    assert_operator trial.memory.size, :>=, 2
    first, *, last = trial.memory
    assert_operator last[0], :>, first[0]
    assert_operator last[2] - first[2], :>, 5_000_000
    assert_equal trial.values["rss"], last[2]
  end

  test "too few iterations to trust are remarked on" do
    assert_equal ["only 1 iteration of the block fitted into 0.1 s; use longer trials"], trial("block { sleep 0.2 }").remarks.map { |remark| in_words(remark) }
    assert_empty trial("block { sleep 0.001 }").remarks
  end

  test "a block that does not repeat itself as it is told is remarked on" do
    assert_equal [:idle_iterations], trial("block { |count| nil }").remarks.map(&:kind)
    assert_empty trial("block { |count| count.times { nil } }").remarks
  end

  test "guesses how long it takes" do
    runner = runner("block { nil }", warmup_limit_s: 10, duration_s: 2)
    assert_includes 3.0..6.0, runner.expected_s
  end
end
