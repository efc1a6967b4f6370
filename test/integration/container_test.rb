# frozen_string_literal: true

require "test_helper"
require "support/command_line"
require "support/namespace"
require "support/served_app"

# What a server may use of its machine is found where the server runs, and all that follows keeps to it.
class ContainerTest < TunerTest
  include CommandLine
  include Namespace

  time_limit 120

  # Two workers of it want two cores.
  COMPUTING = "run ->(_) { 100_000.times { |i| i.to_s } && [200, {}, [\"fine\"]] }"

  LOAD = %w[--path / --duration 1.5 --warmup 0.4 --connections 4 --settings none].freeze

  # As version 2 has them, and version 1; no app of Ruby's fits into the memory.
  LIMITS = {"cpu.max" => "150000 100000\n", "memory.max" => "#{10 << 20}\n", "cpu/cpu.cfs_quota_us" => "150000\n", "cpu/cpu.cfs_period_us" => "100000\n",
            "memory/memory.limit_in_bytes" => "#{10 << 20}\n"}.freeze

  def in_container(app)
    LIMITS.each do |path, text|
      FileUtils.mkdir_p(File.dirname("#{app.folder}/groups/#{path}"))
      File.write("#{app.folder}/groups/#{path}", text)
    end
    in_namespace("mount --bind #{app.folder}/groups /sys/fs/cgroup")
  end

  def document(app, name, kind) = PumaTuner::Document.read(File.join(app.folder, name), kind)

  test "in a container, quota and memory limit are simulated and advised with" do
    ServedApp.open(rackup: COMPUTING) do |app|
      out, err, status = Open3.capture3({"XDG_STATE_HOME" => app.folder}, *in_container(app), RbConfig.ruby, EXECUTABLE, "tune", "config.ru", *LOAD, "--today", "1x1", "--threads", "1",
        "--rounds", "0", "--no-calibrate", "--output", "tuning.json", chdir: app.folder)
      assert_equal 0, status.exitstatus, err
      tuning = document(app, "tuning.json", :tuning)
      assert_equal [1.5, 10 << 20], tuning.observation.machine.to_h.values_at(:cpu_quota_cores, :memory_limit_bytes)
      assert_equal [1, 2].first(PumaTuner::Probe::Processes.allowed_cores.size), tuning.sweep.forecasts.map { |forecast| forecast.topology.workers_count }
      tuning.sweep.forecasts.each { |forecast| assert_operator forecast.cores_used, :<, 1.51 }
      assert_equal [10 << 20, "container"], tuning.advice_list.constraints.to_h.values_at(:max_memory_bytes, :memory_limited_by)
      # Where others on the machine disturbed the recording, nothing is recommended.
      assert_match(/the container's memory limit of 10 MiB, \S+ MiB of it left free; 0 of/, out.gsub(/\s+/, " "))
      next refute_includes(out, "Recommended\n") unless tuning.sweep.trusted?
      assert_equal "1x1", tuning.advice_list.recommendation.topology.to_s
      assert_includes out.gsub(/\s+/, " "), "nothing predicted meets the container's memory limit of 10 MiB"
    end
  end

  test "where a container's memory for files is full, a recording has its files elsewhere, and says so" do
    ServedApp.open do |app|
      before = in_namespace("mount -t tmpfs -o size=64k none /dev/shm && (head -c 100000 /dev/zero > /dev/shm/filled; true)")
      _, err, status = Open3.capture3({"XDG_STATE_HOME" => app.folder}, *before, RbConfig.ruby, EXECUTABLE, "measure", "config.ru", *LOAD, "--load", "--output", "o.json", chdir: app.folder)
      assert_equal 0, status.exitstatus, err
      assert_equal 1, err.scan(%r{/dev/shm has less than 8 MiB left, so files of a run go to /\S+, .*--shm-size}).size, err
      assert_operator document(app, "o.json", :observation).endpoints.first.traces.size, :>, 0
      _, err, status = Open3.capture3({"XDG_STATE_HOME" => app.folder}, *before, RbConfig.ruby, EXECUTABLE, "measure", "--", "sh", "-c", "echo No space left; exit 1", chdir: app.folder)
      assert_equal 3, status.exitstatus, err
      assert_match(%r{Make room where its output says, or in /(?!dev/shm)\S+, where files of a run are\.}, err)
    end
  end

  test "cores that the server alone is kept off are none of its machine's" do
    ServedApp.open do |app|
      bundle = app.environment.slice("PATH", "BUNDLE_GEMFILE", "BUNDLE_PATH").map { |pair| pair.join("=") }
      core = PumaTuner::Probe::Processes.allowed_cores.first.to_s
      result = puma_tuner("measure", *LOAD, "--load", "--output", "o.json", "--", "env", *bundle, "taskset", "--cpu-list", core, "bundle", "exec", "puma", "-t", "1:1", folder: app.folder)
      assert_equal 0, result.code, result.err
      assert_equal 1, document(app, "o.json", :observation).machine.cores_count
      result = puma_tuner("predict", "o.json", "--threads", "1,2", "--seeds", "2", "--simulated-requests", "200", "--output", "s.json", folder: app.folder)
      assert_equal 0, result.code, result.err
      assert_equal %w[1x1 1x2], document(app, "s.json", :sweep).forecasts.map { |forecast| forecast.topology.to_s }
    end
  end
end
