# frozen_string_literal: true

require "test_helper"
require "report/golden"
require "stringio"
require "support/advice_fixture"
require "tmpdir"

# How the diff of advice looks, and what is said beside it. That `git apply` takes it is in advise_test.rb.
class PatchingTest < TunerTest
  include Golden
  include PumaTuner

  # As Rails 8.1 writes them, with what somebody has added.
  PUMA_RB = <<~RUBY
    # Threads: what Rails gives.
    threads_count = ENV.fetch("RAILS_MAX_THREADS", 5)
    threads threads_count, threads_count

    port ENV.fetch("PORT", 3000)

    plugin :tmp_restart
    plugin :solid_queue if ENV["SOLID_QUEUE_IN_PUMA"]

    pidfile ENV["PIDFILE"] if ENV["PIDFILE"]
  RUBY

  def setup
    @folder = @made = File.realpath(Dir.mktmpdir("puma_tuner-test"))
    FileUtils.mkdir_p(File.join(@folder, "config"))
    File.write(File.join(@folder, "config/puma.rb"), PUMA_RB)
    File.utime(Time.utc(2026, 1, 1), Time.utc(2026, 1, 1), File.join(@folder, "config/puma.rb"))
  end

  def teardown = FileUtils.rm_rf(@made)

  # @return [String] the same on every machine
  def masked(text) = text.gsub(@folder, "/app").gsub(/advice-\d+T\d+Z/, "advice-TIME")

  # @return [String] what both streams get, as a terminal shows them
  def shown(*advice, write: false, command: "bundle exec puma")
    out = StringIO.new
    patching = CLI::Patching.new(advice, observation: TuningFixture.observation.with(command:), folder: @folder, kept: File.join(@folder, "tmp/puma_tuner"), out:, err: out)
    write ? patching.write : patching.show
    out.string
  end

  def go = TuningFixture.go.with(lines: {"config/puma.rb" => "workers 2\nthreads 3, 3"})

  def pool = AdviceFixture.preload.with(rule: "starved_pool", lines: {"config/database.yml" => "max_connections: 8"})

  test "lines go where they belong, the environment is for the user to set, and what else counts is said" do
    assert_golden "advice_diff.txt", masked(shown(go, AdviceFixture.time_slice, AdviceFixture.preload))
  end

  test "what is written is shown before, and how it is undone after" do
    assert_golden "advice_diff_written.txt", masked(shown(go, write: true))
    assert_match(/RAILS_MAX_THREADS", 3\)/, File.read(File.join(@folder, "config/puma.rb")))
  end

  test "where there is no such file it is a new one, and what can't be written there is told with its place" do
    FileUtils.rm(File.join(@folder, "config/puma.rb"))
    File.write(File.join(@folder, "config.ru"), "")
    assert_golden "advice_diff_of_a_new_file.txt", masked(shown(go, pool))
  end

  test "the file is the one that the recorded server reads, however its command names it" do
    File.write(File.join(@folder, "config/shop.rb"), "threads 5, 5\n")
    {"puma -C config/shop.rb" => "config/shop.rb", "puma --config=config/shop.rb" => "config/shop.rb", "puma -C./config/shop.rb" => "config/shop.rb",
     "bundle exec puma --config #{@folder}/config/shop.rb config.ru" => "config/shop.rb",
     "puma -C /elsewhere/puma.rb" => "config/puma.rb", "puma" => "config/puma.rb", "puma -C config/puma.rb --config=config/shop.rb" => "config/shop.rb",
     "puma -C config/shop.rb config.ru -C config/puma.rb" => "config/puma.rb"}.each do |command, path|
      assert_equal [path], shown(go, command:).scan(%r{^\+\+\+ b/(.+)}).flatten, command
    end
  end

  test "a configuration by the path that it has elsewhere, as in a container, is the same file here; of another one it is said" do
    File.write(File.join(@folder, "config/shop.rb"), "threads 5, 5\n")
    %w[/app/config/shop.rb apps/shop/config/shop.rb].each do |path|
      elsewhere = shown(go, command: "puma -C #{path}")
      assert_match(%r{^\+\+\+ b/config/shop\.rb$}, elsewhere)
      refute_match(/the recorded server reads/, elsewhere)
    end
    File.write(File.join(@folder, "a.rb"), "threads 5, 5\n")
    assert_match(%r{the recorded server reads /etc/puma/a\.rb, which does not lie in .*: what is for config/puma\.rb belongs there}, shown(go, command: "puma -C /etc/puma/a.rb"))
  end

  test "where the server reads no configuration no file is changed, and the options that its command takes are told" do
    {"puma -C - config.ru" => "-C -", "puma -C-" => "-C-", "puma --config=- -t 5:5" => "--config=-",
     "bundle exec puma --no-config" => "--no-config"}.each do |command, option|
      told = shown(go, command:, write: true)
      assert_match(/as the server is started with #{option} and reads none\. Its command decides: set `-w 2 -t 3:3` there/, told)
      refute_match(/^\+\+\+|has no option/, told)
    end
    others = shown(AdviceFixture.preload, command: "puma --no-config")
    assert_match(/set `--preload` there.*it has no option for `before_worker_boot do\n  CACHE\.reconnect\nend`/m, others)
    assert_equal PUMA_RB, File.read(File.join(@folder, "config/puma.rb"))
    assert_match(/nothing is left to write/, shown(go.with(lines: {"config/puma.rb" => "threads 5, 5"}), command: "puma --no-config"))
    assert_match(/^\+\+\+/, shown(go, command: "puma -C config/puma.rb -e production"))
  end

  test "what is proven is started in the app's folder, from wherever, with the puma.rb that the recorded server reads, if any" do
    before, ENV["XDG_STATE_HOME"] = ENV["XDG_STATE_HOME"], @folder
    File.write(File.join(@folder, "config/shop.rb"), "# of the shop\n")
    nothing = CLI::RecordedApp.members.to_h { |member| [member, nil] }
    {"puma -C config/shop.rb" => "# of the shop\n", "puma --no-config" => nil, "puma -C config/shop.rb/puma.rb" => nil}.each do |command, source|
      app = CLI::RecordedApp.new(**nothing, observation: TuningFixture.observation.with(command:))
      proving = CLI::AdviceProving.new(app, words: command.split, folder: @folder, options: {}, progress: nil, err: StringIO.new)
      assert_equal [@folder, source], [proving.instance_variable_get(:@command).directory, proving.send(:puma_rb)]
    end
  ensure
    ENV["XDG_STATE_HOME"] = before
  end

  # @return [String] what is said before rounds of so many pieces of advice
  def announced(rounds, advice_count)
    app = CLI::RecordedApp.new(**CLI::RecordedApp.members.to_h { |member| [member, nil] }, observation: TuningFixture.observation)
    variants = ["today", *Array.new(advice_count) { |index| "advice #{index}" }].map { |name| Prove::Variant.new(name:) }
    err = StringIO.new
    CLI::AdviceProving.new(app, words: %w[puma -C config/puma.rb], folder: @folder, options: {rounds:}, progress: nil, err:)
      .send(:announce, Struct.new(:variants).new(variants))
    err.string
  end

  test "rounds that can show nothing of so many pieces of advice are told before the first of them, with the number that it takes" do
    with_environment("XDG_STATE_HOME" => @folder) do
      [[6, 1], [7, 2], [12, 8]].each { |rounds, count| refute_match(/need at least/, announced(rounds, count)) }
      assert_match(/^puma_tuner: 3 variants need at least 7 rounds: with fewer, nothing can be significant/, announced(6, 2))
    end
  end

  test "where nothing is left to be done it says so" do
    shown(go, write: true)
    assert_golden "advice_diff_of_nothing.txt", masked(shown(go) + shown(go, command: "bundle exec puma -w 1 -t 5:5"))
  end

  test "the command that undoes it can be typed, whatever the folder is called" do
    folder = File.join(@folder, "my app's")
    FileUtils.mkdir_p(folder)
    FileUtils.mv(File.join(@folder, "config"), folder)
    @folder = folder
    told = shown(go, write: true)
    refute_equal PUMA_RB, File.read(File.join(folder, "config/puma.rb"))
    assert system("bash", "-c", told[/To undo it: (.*)/, 1], out: File::NULL), told
    assert_equal PUMA_RB, File.read(File.join(folder, "config/puma.rb"))
  end
end
