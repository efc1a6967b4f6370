# frozen_string_literal: true

require "oracles/simulation"

# A GVL and cores with threads that follow a script, in place of a whole simulation: for rules that are about nothing else.
class SimulatedThreads
  Numbers = Struct.new(:gvl_rule, :tick_ns, :ticks_per_slice, :handoff_ns, :handoff_busy_ns, :affinity, :cores_count, :rates, :quota_ns, :period_ns)

  # Computes and waits in turn, and notes when it is done.
  class ScriptedThread
    attr_accessor :wanted_ns
    attr_reader :done_ns, :rounds_count

    def initialize(threads, gvl, bursts_ns, waits_ns, gc_ns, blocking)
      @threads = threads
      @gvl = gvl
      @bursts_ns = bursts_ns
      @waits_ns = waits_ns
      @gc_ns = gc_ns
      @blocking = blocking
      @rounds_count = 0
    end

    def begin(_ = nil)
      @left_ns = @bursts_ns[@rounds_count % @bursts_ns.size]
      @gvl.want(self)
    end

    def run = @threads.cores.start(self, @left_ns)

    # Lets the hand-over be what the test says, with nobody in the way of a sleeper.
    def rested? = false

    def interruptible? = @threads.cores.running?(self) && @threads.cores.left_ns(self) > @gc_ns

    def interrupt = @left_ns = @threads.cores.stop(self)

    def brief? = false

    def burst_ended
      wait_ns = @waits_ns[@rounds_count]
      @rounds_count += 1
      @done_ns = @threads.now_ns unless wait_ns
      @gvl.release(self, blocking: @blocking)
      return unless wait_ns
      wait_ns.zero? ? self.begin : @threads.after(wait_ns, :begin, self)
    end
  end

  attr_reader :settings, :now_ns, :cores

  MS = 1_000_000

  def initialize(rule: :fifo, slice_ms: 100, handoff_ns: 0, effective_cores: Array.new(8) { |index| index + 1.0 }, cores_count: effective_cores.size, quota_ms: 0)
    rates = effective_cores.each.with_index(1).map { |cores, count| [(65_536 * cores / count).floor, 65_536].min }
    @settings = Numbers.new(gvl_rule: PumaTuner::Predict::Engine.codes[:gvl_rule].fetch(rule), tick_ns: 10 * MS, ticks_per_slice: (slice_ms / 10.0).ceil, handoff_ns:, handoff_busy_ns: handoff_ns, affinity: 0, cores_count:, rates:,
      quota_ns: quota_ms * MS, period_ns: 100 * MS)
    @now_ns = 0
    @queue = SimulationTwin::EventQueue.new
    @cores = SimulationTwin::Cores.new(self)
    @cores.quota_renewed if quota_ms.positive?
    @gvl = new_gvl
  end

  def new_gvl = SimulationTwin::Gvl.new(self)

  # Takes what the kernel computed, of which no test here tells.
  def tally = @tally ||= Struct.new(:server_cpu_ns).new(0)

  # @param bursts_ms [Array<Numeric>] over and over; waits_ms: after each but the last
  # @return [ScriptedThread] that begins then
  def thread(bursts_ms, waits_ms = [], at_ms: 0, gvl: @gvl, gc_ms: 0, blocking: true)
    scripted = ScriptedThread.new(self, gvl, nanoseconds(bursts_ms), nanoseconds(waits_ms), (gc_ms * MS).round, blocking)
    after((at_ms * MS).round - @now_ns, :begin, scripted)
    scripted
  end

  def after(delay_ns, kind, receiver, argument = nil) = @queue.add(@now_ns + delay_ns, kind, receiver, argument)

  def run_until_ms(limit_ms)
    step while [@queue.due_ns, @cores.due_ns].min <= limit_ms * MS
    self
  end

  private

  def nanoseconds(list_ms) = list_ms.map { |ms| (ms * MS).round }

  def step
    if @cores.due_ns <= @queue.due_ns
      @now_ns = @cores.due_ns
      @cores.finish&.burst_ended
    else
      event = @queue.take
      @now_ns = event.at_ns
      event.receiver.public_send(event.kind, event.argument)
    end
  end
end
