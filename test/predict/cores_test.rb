# frozen_string_literal: true

require "test_helper"
require "support/oracles"

class CoresTest < TunerTest
  Cores = PumaTuner::Predict::Cores

  # @return [Array] the names of the tasks as they end, with the time
  def ends(cores)
    ended = []
    ended << [cores.due_ns, cores.finish(cores.due_ns)] until cores.due_ns == PumaTuner::Predict::EventQueue::NEVER_NS
    ended
  end

  test "with cores enough each task has one to itself" do
    cores = Cores.new(2.0)
    cores.start("a", 100, 0)
    cores.start("b", 30, 10)
    assert_equal [[40, "b"], [100, "a"]], ends(cores)
  end

  test "more tasks than cores share them evenly, until one is done" do
    cores = Cores.new(1.0)
    cores.start("a", 100, 0)
    cores.start("b", 30, 0)
    assert_equal [[60, "b"], [130, "a"]], ends(cores)
  end

  test "who comes later shares what is left" do
    cores = Cores.new(2.0)
    %w[a b].each { |task| cores.start(task, 100, 0) }
    cores.start("c", 100, 40)
    # 60 left for two, 100 for one, at two thirds each: 90 later two are done, and the third has 40 to go.
    assert_equal [[130, "a"], [130, "b"], [170, "c"]], ends(cores)
  end

  test "half a core is half as fast" do
    cores = Cores.new(0.5)
    cores.start("a", 100, 0)
    assert_equal [[200, "a"]], ends(cores)
  end

  test "a stopped task knows what it still needs, and the others get its share" do
    cores = Cores.new(1.0)
    cores.start("a", 100, 0)
    cores.start("b", 100, 0)
    assert_equal 70, cores.stop("a", 60)
    assert_equal [[130, "b"]], ends(cores)
  end

  test "time never runs backwards, whatever the rounding" do
    random = Random.new(5)
    cores = Cores.new(2.3)
    now_ns = 0
    7.times { |task| cores.start(task, random.rand(1..50), now_ns) }
    5_000.times do
      assert_operator cores.due_ns, :>=, now_ns
      now_ns = cores.due_ns
      task = cores.finish(now_ns)
      cores.start(task, random.rand(1..50), now_ns)
    end
  end

  # A task that computes, thinks, and computes again.
  class Customer
    attr_reader :rounds_count

    def initialize(timeline, bursts_ns, think_ns)
      @timeline = timeline
      @bursts_ns = bursts_ns.cycle
      @think_ns = think_ns
      @rounds_count = 0
    end

    def call = @timeline.compute(self, @bursts_ns.next)

    def burst_ended
      @rounds_count += 1
      @timeline.after(@think_ns, self)
    end
  end

  # Processor sharing gives the throughput of first come, first served, however uneven the bursts.
  test "a closed network around one shared core is as fast as theory says" do
    timeline = PumaTuner::Predict::Timeline.new(1.0)
    random = Random.new(11)
    bursts_ns = Array.new(1_000) { (random.rand < 0.9) ? 400_000 : 6_400_000 }
    think_ns = 4_000_000
    customers = Array.new(6) { Customer.new(timeline, bursts_ns.shuffle(random:), think_ns) }
    customers.each(&:call)
    timeline.step until timeline.now_ns > 60_000_000_000
    exact = Oracles.repairmen(customers_count: 6, servers_count: 1, think: think_ns.to_f, service: bursts_ns.sum.fdiv(1_000))
    assert_in_epsilon exact[:throughput], customers.sum(&:rounds_count).fdiv(timeline.now_ns), 0.015
  end
end
