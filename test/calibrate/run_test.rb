# frozen_string_literal: true

require "test_helper"
require "support/builders"

class RunTest < TunerTest
  kind :integration

  include Builders

  Calibrate = PumaTuner::Calibrate

  # Remembers what it is told.
  class Listener
    attr_reader :titles, :notes

    def initialize
      @titles = []
      @notes = []
    end

    def stage(title, expected_s)
      raise "no idea how long #{title} takes" unless expected_s.positive?
      @titles << title
      yield self
    end

    def note(text) = @notes << text
  end

  test "a key names all that makes a machine another" do
    facts = machine_facts(2, nil).with(cpu_model: "AMD EPYC", kernel: "Linux 6.18")
    key = Calibrate.key_of(facts, "3.4.5", "8.0.2")
    assert_equal "AMD EPYC, 2 cores, Linux 6.18, Ruby 3.4.5, Puma 8.0.2", key
    others = [facts.with(cores_count: 1), facts.with(cpu_model: nil), facts.with(kernel: "Linux 6.19"), facts.with(cpu_quota_cores: 1.5)]
    keys = others.map { |other| Calibrate.key_of(other, "3.4.5", "8.0.2") } << Calibrate.key_of(facts, "3.4.6", "8.0.2") << Calibrate.key_of(facts, "3.4.5", "8.0.3")
    assert_equal 7, [key, *keys].uniq.size
    assert_includes keys, "AMD EPYC, 2 cores, limited to 1.5, Linux 6.18, Ruby 3.4.5, Puma 8.0.2"
  end

  test "a machine's load and memory are no part of its identity" do
    facts = machine_facts(2, nil)
    assert_equal Calibrate.key_of(facts, "3", "8"), Calibrate.key_of(facts.with(load_average: 9.0, cpu_pressure_ratio: nil, memory_bytes: 1), "3", "8")
  end

  test "under a quota no more processes are kept busy than it allows, and where it stops one that computes, no clock is asked" do
    counts = {nil => 4, 4.0 => 4, 2.5 => 2, 1.0 => 1, 0.5 => 1}
    counts.each { |quota, count| assert_equal count, under(quota).send(:busy_count), quota.inspect }
    idle = Calibrate::Sample.new(values_ns: [7])
    assert_same idle, under(0.5).send(:loaded_wakeups, idle)
    assert_equal [Model::MachineFit::TYPICAL.tick_ns], under(0.5).send(:tick).values_ns
  end

  # @return [Calibrate::Run] on four cores
  def under(quota)
    Calibrate::Run.new(progress: nil, effort_ratio: 0.1, ruby: RbConfig.ruby).tap { |run| run.instance_variable_set(:@facts, machine_facts(4, quota)) }
  end

  test "without a gem puma it is said before anything is measured, with what to do" do
    listener = Listener.new
    run = Calibrate::Run.new(progress: listener, effort_ratio: 0.1, ruby: RbConfig.ruby, puma_version: nil)
    assert_match(/no gem puma where puma_tuner runs: `gem install puma`/, assert_raises(PumaTuner::UsageError) { run.call }.message)
    assert_empty listener.titles
  end

  test "all probes together make a machine, and leave nothing behind" do
    children = PumaTuner::Probe::Processes.children_of(Process.pid)
    listener = Listener.new
    remarks = []
    machine = Calibrate.call(progress: listener, effort_ratio: 0.1) { |remark| remarks << remark }
    assert_machine machine
    assert_equal Calibrate.current_key, machine.calibrated.machine_key
    assert_equal machine, PumaTuner::Document.parse(PumaTuner::Document.dump(machine), "machine", [:machine])
    assert_equal ["tick", "rule of the GVL", "hand-over of the GVL", "waking up, idle", "burst after a rest", "workers that share a core", "hand-over, other cores busy", "CPU of a hand-over", "waking up, all cores busy", "cores", "one client", "Puma's own CPU",
      "Puma's reactor", "Puma's pool threads"], listener.titles
    assert_equal listener.titles.size, listener.notes.size
    assert(remarks.all? { |remark| remark.end_with?(".") })
    assert_empty PumaTuner::Probe::Processes.children_of(Process.pid) - children
    # Others may have folders of their own there; Ruby puts the maker's process id into the name.
    assert_empty Dir["#{PumaTuner::Host::ScratchFolder.path}/puma_tuner-run-*-#{Process.pid}-*"]
  end

  def assert_machine(machine)
    numbers = machine.to_h.slice(:tick_ns, :handoff_ns, :acceptor_cpu_ns, :reactor_wakeup_cpu_ns, :reactor_register_cpu_ns, :client_send_cpu_ns,
      :client_receive_cpu_ns).merge(round_trip_ns: machine.calibrated.round_trip_ns)
    numbers.each { |name, ns| assert_operator ns, :>, 0, name }
    assert(numbers.values.all?(Integer))
    assert_kind_of Integer, machine.tail_cpu_ns
    assert_operator machine.cold_cpu_ns, :>=, 0
    middle = machine.calibrated.switch_costs[1]
    assert_equal [middle.idle_ns, middle.busy_ns], [machine.switch_idle_cpu_ns, machine.switch_busy_cpu_ns]
    assert_includes %w[fifo hot], machine.gvl_rule
    assert_equal RUBY_DESCRIPTION, machine.calibrated.ruby_description
    [machine.wakeup_idle_ns, machine.wakeup_loaded_ns].each { |all_ns| assert_equal all_ns.sort, all_ns }
    assert_equal 1.0, machine.effective_cores.first
    assert_operator machine.effective_cores.size, :>, machine.cores_count
  end
end
