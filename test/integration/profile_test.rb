# frozen_string_literal: true

require "test_helper"
require "support/command_line"
require "support/served_app"

# Real profiles of real servers, requests and blocks, by the profilers that are installed.
class ProfileIntegrationTest < TunerTest
  include PumaTuner
  include CommandLine

  time_limit 120

  # One method takes three times what the other takes, and each request sleeps.
  APP = <<~RUBY
    module Work
      def self.much = 60_000.times { |i| i.to_s }
      def self.little = 20_000.times { |i| i.to_s }
      def self.rest = sleep(0.002)
      def self.counted = 7.times { Work.noted }
      def self.noted = nil
    end
    run lambda { |env|
      Work.counted
      Work.much
      Work.little
      Work.rest
      [200, {"content-type" => "text/plain"}, ["fine"]]
    }
  RUBY

  # The same with next to no CPU, for what is not about figures: so a server is looked at for seconds without a core of its own.
  RESTING = APP.sub("  Work.much\n", "").sub("Work.rest\n", "sleep(0.03)\n").freeze

  def skip_unless_installed(name)
    profiler = Probe::Profilers.find(name)
    return if profiler::GEM ? Profile::Library.installed?(profiler) : profiler.new.why_not.nil?
    skip "#{name} is not installed: puma_tuner profile --install #{name}"
  end

  # @return [Profile::Costs]
  def profile(*words, rackup: APP, code: 0)
    ServedApp.open(rackup:) do |app|
      result = puma_tuner("profile", *words, "--output", "p.json", folder: app.folder, environment: {"RUBYOPT" => nil})
      assert_equal code, result.code, result.err
      @result = result
      costs = Document.read(File.join(app.folder, "p.json"), :profile)
      costs.files.each { |path| assert_operator File.size(path), :>, 0 }
      assert_empty processes_in(app.folder)
      return costs
    end
  end

  def total_of(costs, name) = costs.methods.find { |method| method.name == name }&.total_amount.to_i

  %w[vernier stackprof rperf pf2].each do |name|
    test "#{name} sees what a served app spends its CPU on" do
      skip_unless_installed(name)
      mode = Probe::Profilers.find(name)::MODES.key?("cpu") ? "cpu" : "wall"
      look = ->(seconds) { profile("config.ru", "--with", name, "--mode", mode, "--duration", seconds, "--warmup", "0.5", "--connections", "2") }
      costs = look.call("2")
      # Samples are of CPU time, of which a busy machine has little.
      costs = look.call("10") unless costs.samples_count > 50
      assert_operator costs.samples_count, :>, 50
      assert_operator costs.work_count, :>, 10
      assert_equal "ns", costs.unit
      # Three times, by as few samples as that: they are only to be told apart, and the right way round.
      assert_includes 1.3..12, total_of(costs, "Work.much").fdiv(total_of(costs, "Work.little"))
    end
  end

  test "workers of a cluster are looked at together" do
    skip_unless_installed("vernier")
    costs = profile("config.ru", "--with", "vernier", "--topology", "2x2", "--duration", "1.5", "--warmup", "0.5", "--connections", "4")
    assert_equal 2, costs.files.map { |path| path[/vernier-(\d+)-/, 1] }.uniq.size
  end

  test "single requests are followed call by call, from Puma's taking to the response's end" do
    skip_unless_installed("ruby-prof")
    costs = profile("config.ru", "--request", "/", "--with", "ruby-prof")
    assert_equal 1, costs.work_count
    assert_predicate costs, :traced?
    assert_equal 7, costs.methods.find { |method| method.name == "Work.noted" }.calls_count
    assert_includes costs.methods.map(&:name), "Puma::HttpParser#execute" if costs.methods.any? { |method| method.name.start_with?("Puma::HttpParser") }
  end

  test "outliers can be profiled alone" do
    skip_unless_installed("vernier")
    slow = APP.sub("Work.rest\n", "Work.rest\n  Work.much if rand(12).zero? && 4.times { Work.much }\n")
    costs = profile("config.ru", "--outliers", "--duration", "4", "--warmup", "0.5", "--connections", "2", rackup: slow)
    assert_match(/only the \d+ outliers of \d+ requests \(.*tail/, costs.target)
    assert_operator total_of(costs, "Work.much"), :>, 4 * total_of(costs, "Work.little")
  end

  test "a block of Ruby is profiled" do
    skip_unless_installed("ruby-prof")
    ServedApp.open do |app|
      File.write(File.join(app.folder, "b.rb"), "def noted = nil\nblock(\"a\") { 5.times { noted } }\nblock(\"b\") { nil }\n")
      result = puma_tuner("profile", "--block", "b.rb", "--name", "a", "--iterations", "3", "--with", "ruby-prof", "--warmup", "0.1", "--output", "p.json", folder: app.folder)
      assert_equal 0, result.code, result.err
      costs = Document.read(File.join(app.folder, "p.json"), :profile)
      assert_equal [3, "iteration"], [costs.work_count, costs.work_noun]
      assert_equal 15, costs.methods.find { |method| method.name == "Object#noted" }.calls_count
    end
  end

  test "a profiler's own file can be read again, and two profiles held against each other" do
    skip_unless_installed("stackprof")
    ServedApp.open(rackup: APP) do |app|
      quick = %w[--with stackprof --duration 1 --warmup 0.3 --connections 2]
      assert_equal 0, puma_tuner("profile", "config.ru", *quick, "--output", "a.json", folder: app.folder).code
      file = Document.read(File.join(app.folder, "a.json"), :profile).files.first
      again = puma_tuner("profile", "--read", file, "--with", "stackprof", "--output", "b.json", folder: app.folder)
      assert_equal 0, again.code, again.err
      assert_match(/does not say how many requests/, again.out)
      diff = puma_tuner("diff", "a.json", "a.json", folder: app.folder)
      assert_equal 0, diff.code, diff.err
      refute_match(/(cheaper|dearer)$/, diff.out.lines.drop(1).join)
      File.write(file, File.binread(file)[0, 200])
      assert_mistake(/#{Regexp.escape(File.basename(file))}/, puma_tuner("profile", "--read", file, "--with", "stackprof", folder: app.folder))
    end
  end

  # Half as much again as one window.
  TWO_WINDOWS = ["--duration", (1.5 * Profile::ServerRun::WINDOW_S).to_s].freeze

  test "what was taken before a server fell is kept, and it is said that it fell" do
    skip_unless_installed("vernier")
    rackup = <<~RUBY
      PumaTuner::Probe::Profiling::Session.prepend(Module.new { def start = super.tap { $begun_count = $begun_count.to_i + 1 } })
      #{RESTING.sub("Work.counted\n", "exit!(9) if $begun_count == 2\n  Work.counted\n")}
    RUBY
    costs = profile("config.ru", "--with", "vernier", *TWO_WINDOWS, "--warmup", "0.3", "--connections", "2", "--topology", "1x2", code: 3, rackup:)
    assert_match(/ended while vernier looked at it/, @result.err)
    assert_match(/until then is in p\.json/, @result.err)
    assert_operator costs.work_count, :>, 0
  end

  # A process that ends when it should write what it saw: the whole server, or one worker of it.
  %w[1x2 2x1].each do |topology|
    test "a process of #{topology} that ends at a window's end is told, and its requests are in no figure" do
      skip_unless_installed("stackprof")
      rackup = <<~RUBY
        module FallsAtItsSecondEnd
          def stop = (($ends_count = $ends_count.to_i + 1) == 2 && !$0.include?("cluster worker 1")) ? exit!(9) : super
        end
        PumaTuner::Probe::Profiling::Session.prepend(FallsAtItsSecondEnd)
        #{RESTING}
      RUBY
      costs = profile("config.ru", "--with", "stackprof", *TWO_WINDOWS, "--warmup", "0.3", "--connections", "2", "--topology", topology, code: 3, rackup:)
      assert_match(/ended while stackprof looked at/, @result.err)
      assert_operator costs.work_count, :>, 0
    end
  end

  test "a running app profiles the requests that carry its token, and no others" do
    skip_unless_installed("vernier")
    paths = Profile::Library.locate("vernier")
    rackup = "$LOAD_PATH.concat(#{paths.inspect}); $LOAD_PATH << #{File.expand_path("../../lib", __dir__).inspect}; require 'puma_tuner'\n" \
             "use PumaTuner::ProfilerMiddleware, with: 'vernier', token: 'not to be guessed'\n#{APP}"
    ServedApp.open(rackup:) do |app|
      port = app.start("-t", "2:2")
      words = ["--with", "vernier", "--url", "http://127.0.0.1:#{port}/", "--times", "5", "--output", "p.json"]
      result = puma_tuner("profile", *words, "--token", "not to be guessed", folder: app.folder)
      assert_equal 0, result.code, result.err
      assert_equal 5, Document.read(File.join(app.folder, "p.json"), :profile).work_count
      refute_includes File.read(File.join(app.folder, "p.json")), "not to be guessed"
      assert_failed(/with the same token/, puma_tuner("profile", *words, "--token", "something else!!!", folder: app.folder))
      assert_equal 5, Dir[File.join(app.folder, "tmp/puma_tuner/profiles/*")].size
      permit = File.join(app.folder, "tmp/puma_tuner/profile")
      File.write(permit, "")
      sleep 1.1 # a permit is looked for once a second
      3.times { Net::HTTP.get(URI("http://127.0.0.1:#{port}/")) }
      refute_path_exists permit
      assert_equal 6, Dir[File.join(app.folder, "tmp/puma_tuner/profiles/*")].size
    end
  end

  test "a profile of this very process" do
    skip_unless_installed("ruby-prof")
    Dir.mktmpdir do |folder|
      costs = PumaTuner.profile(with: "ruby-prof", folder:) { 3.times { Profile::Stacks.relevant([]) } }
      assert_equal 3, costs.methods.find { |method| method.name == "PumaTuner::Profile::Stacks.relevant" }.calls_count
    end
  end

  test "mistakes are answered with what to do" do
    ServedApp.open(rackup: APP) do |app|
      {
        ["config.ru", "--with", "magic"] => /unknown profiler "magic"; choose one of vernier/,
        ["config.ru", "--mode", "dreams"] => /has no mode "dreams"; choose one of cpu/,
        ["config.ru", "--outliers", "--with", "stackprof"] => /--outliers needs a profiler that says when/,
        ["--read", "nowhere.json"] => /nowhere\.json: there is no such file/,
        ["--block", "nowhere.rb"] => /there is no nowhere\.rb/,
        ["config.ru", "--request", "/", "--outliers"] => /can't be combined/,
        ["--url", "http://127.0.0.1:1/"] => /needs the --token/,
        ["config.ru", "--token", "x"] => /--token works with --url only/,
        ["config.ru", "--request", "/", "--with", "perf"] => /from outside/,
        ["config.ru", "--request", "/a b"] => /--request \/a b: write a path/,
        ["config.ru", "--request", "http://example.com/"] => /write a path.*--url is for a server that runs/
      }.each { |words, pattern| assert_mistake(pattern, puma_tuner_in_fork("profile", *words, folder: app.folder)) }
      assert_failed(/Check that a server is listening there/, puma_tuner("profile", "--url", "http://127.0.0.1:1/", "--token", "x" * 20, folder: app.folder))
      assert_equal ["config.ru"], Dir.children(app.folder)
    end
  end
end
