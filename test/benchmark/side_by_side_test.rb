# frozen_string_literal: true

require "test_helper"
require "tmpdir"
require_relative "../../benchmark/validate/measurement"

# All servers of a subject stand at the same time, and take turns.
class SideBySideTest < TunerTest
  kind :integration

  include Validation

  time_limit 90

  CELL = Cell.parse("lock_wait/3.4/8.0/100/1x2/clients-4")
  TIMES = Times.new(warmup_s: 0.3, load_s: 0.4, repeats_count: 2, probe_s: 0.4, record_s: 1.0)

  # @yieldparam command [PumaTuner::Host::Command] of an app that writes down who was asked
  def with_app
    Dir.mktmpdir do |folder|
      File.write(File.join(folder, "config.ru"), <<~RUBY)
        run ->(_) { File.write(#{File.join(folder, "asked").dump}, "\#{Process.pid}\n", mode: "a"); [200, {}, ["fine"]] }
      RUBY
      yield PumaTuner::Host::Command.of_rackup(File.join(folder, "config.ru")), -> { File.readlines(File.join(folder, "asked"), chomp: true).chunk_while { |one, other| one == other }.map(&:first) }
    end
  end

  def traffic(connections_count = 4)
    mix = PumaTuner::Load::Mix.new(requests: [PumaTuner::Load::Request.new(path: "/")])
    PumaTuner::Load::Traffic.new(mix:, generator: PumaTuner::Load::Native.new, connections_count:, seed: 1)
  end

  def session(command)
    plan = Session::Plan.new(cell: CELL, rate_per_s: nil, connections_count: 4, load_s: TIMES.load_s)
    Session.new(command:, topology: CELL.topology, plans: [plan], times: TIMES, cores_count: 2)
  end

  test "recordings and cells are loaded in turns, round after round, and nothing stays behind" do
    with_app do |command, asked|
      recordings = %w[1x1 1x2].map { |text| SideBySide::Recording.new(command, PumaTuner::Topology.parse(text), traffic, TIMES.load_s) }
      observations, cells, turns_per_ms = SideBySide.new(recordings:, sessions: [session(command)], times: TIMES, seed: 1).call
      assert_equal %w[1x1 1x2], observations.keys.map(&:to_s)
      observations.each { |topology, observation| assert_equal [topology, true], [observation.topology, observation.endpoints.sum { |endpoint| endpoint.traces.size }.positive?] }
      # Of the turns alone: what warmed the servers up is not in it.
      observations.each_value { |observation| assert_in_delta 2 * TIMES.load_s * 1e9, observation.load.duration_ns, 0.3e9 }
      fields = cells.fetch(CELL)
      assert_equal [2, nil, 4], [fields["repeats"].size, fields["failure"], fields["connections_count"]]
      assert_operator fields["gvl_wait"]["requests_count"], :>, 0
      assert_operator turns_per_ms, :>, 0
      pids = asked.call
      assert_equal 3, pids.uniq.size
      assert_operator pids.size, :>=, 2 * 3 # rounds of three servers
      pids.uniq.each { |pid| refute_path_exists "/proc/#{pid}" }
    end
  end

  test "a server that does not start is told of, and the others are stopped" do
    with_app do |command, asked|
      broken = SideBySide::Recording.new(PumaTuner::Host::Command.of_words(%w[false]), PumaTuner::Topology.parse("1x1"), traffic, TIMES.load_s)
      fine = SideBySide::Recording.new(command, PumaTuner::Topology.parse("1x1"), traffic, TIMES.load_s)
      assert_raises(PumaTuner::ServerFailed) { SideBySide.new(recordings: [fine, broken], sessions: [], times: TIMES, seed: 1).call }
      assert_raises(Errno::ENOENT) { asked.call }
    end
  end
end
