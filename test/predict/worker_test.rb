# frozen_string_literal: true

require "test_helper"
require "support/builders"

# One worker, requests given to it by hand: the GVL's hand-over and Puma's todo list, held against probes of Ruby.
class WorkerTest < TunerTest
  include Builders

  SPINNER_MS = 100_000

  def setup
    @answers = {}
  end

  def start(threads_count:, overhead_cpu_ns: 0, cores_count: 64.0, **machine_facts)
    @timeline = Predict::Timeline.new(cores_count)
    @worker = new_worker(threads_count:, overhead_cpu_ns:, machine: machine(**machine_facts))
  end

  def new_worker(machine:, **facts)
    Predict::Worker.new(timeline: @timeline, machine:, on_answer: ->(request) { @answers[request.connection] = answer(request) }, **facts)
  end

  # Milliseconds since the request was sent.
  def answer(request)
    {ms: (@timeline.now_ns - request.sent_ns).fdiv(MS), gvl_wait_ms: request.gvl_wait_ns.fdiv(MS), queue_ms: request.queue_ns.fdiv(MS)}
  end

  def accept(name, bursts_ms, waits_ms = [], worker: @worker)
    worker.accept(Predict::Request.new(name, demand(bursts_ms, waits_ms), @timeline.now_ns))
  end

  def run_until_ms(limit_ms) = (@timeline.step while @timeline.due_ns <= limit_ms * MS)

  def ms(name) = @answers.fetch(name)[:ms]

  test "alone, a request takes what it demands" do
    start(threads_count: 1, overhead_cpu_ns: MS)
    accept("alone", [2, 3, 1], [5, 10])
    run_until_ms(100)
    assert_in_delta 22, ms("alone"), 1e-9
  end

  test "bursts take turns, waits overlap" do
    start(threads_count: 2)
    accept("a", [2, 1], [10])
    accept("b", [2, 1], [10])
    run_until_ms(100)
    assert_in_delta 13, ms("a"), 1e-9
    assert_in_delta 15, ms("b"), 1e-9
    assert_in_delta 2, @answers["b"][:gvl_wait_ms], 1e-9
  end

  test "requests beyond the threads queue in the order they came" do
    start(threads_count: 1)
    %w[a b c].each { |name| accept(name, [4]) }
    run_until_ms(100)
    assert_equal %w[a b c], @answers.keys
    assert_in_delta 8, @answers["c"][:queue_ms], 1e-9
    assert_in_delta 12, ms("c"), 1e-9
  end

  test "a hand-off takes its time, and only when somebody waits" do
    start(threads_count: 2, handoff_ns: MS)
    accept("a", [2])
    accept("b", [2])
    run_until_ms(100)
    assert_in_delta 2, ms("a"), 1e-9
    assert_in_delta 5, ms("b"), 1e-9
    assert_in_delta 3, @answers["b"][:gvl_wait_ms], 1e-9
  end

  test "behind a computing thread the first to come waits ten ticks" do
    start(threads_count: 2, handoff_ns: 8_000)
    accept("spinner", [SPINNER_MS])
    run_until_ms(3_003)
    @timeline.after(3_003 * MS - @timeline.now_ns, -> { accept("first", [1]) })
    run_until_ms(4_000)
    assert_in_delta 100 + 0.008 + 1, ms("first"), 1e-9
  end

  test "a shorter time slice shortens the wait" do
    start(threads_count: 2, quantum_ms: 10)
    accept("spinner", [SPINNER_MS])
    accept("first", [1])
    run_until_ms(1_000)
    assert_in_delta 11, ms("first"), 1e-9
  end

  test "beside one computing thread, a millisecond of sleep makes a cycle of a whole slice" do
    start(threads_count: 2, handoff_ns: 8_000)
    accept("spinner", [SPINNER_MS])
    accept("sleeper", [0.1] + [0.2] * 50, [1] * 50)
    run_until_ms(6_000)
    assert_in_epsilon 9.9, 50 / (ms("sleeper") / 1_000), 0.03
  end

  test "behind three computing threads, coming back takes three slices" do
    start(threads_count: 4, handoff_ns: 8_000)
    3.times { |index| accept("spinner #{index}", [SPINNER_MS]) }
    accept("sleeper", [0.1] + [0.2] * 20, [1] * 20)
    run_until_ms(8_000)
    assert_in_epsilon 300, ms("sleeper") / 21, 0.02
  end

  test "a thread preempted goes on where it was" do
    start(threads_count: 2)
    accept("long", [150])
    accept("short", [30])
    run_until_ms(1_000)
    assert_in_delta 130, ms("short"), 1e-9
    assert_in_delta 180, ms("long"), 1e-9
    assert_in_delta 30, @answers["long"][:gvl_wait_ms], 1e-9
  end

  test "the timer stops when nobody waits, and the slice starts afresh for the next to come" do
    start(threads_count: 3)
    accept("spinner", [SPINNER_MS])
    accept("first", [1])
    run_until_ms(505)
    @timeline.after(507 * MS - @timeline.now_ns, -> { accept("second", [1]) })
    run_until_ms(1_000)
    assert_in_delta 101, ms("second"), 1e-9
  end

  test "a timer that ticks already keeps its phase, so a slice can be almost a tick short" do
    start(threads_count: 4)
    accept("spinner", [SPINNER_MS])
    @timeline.after(5 * MS, -> { accept("short", [4]) })
    @timeline.after(6 * MS, -> { accept("last", [SPINNER_MS]) })
    @timeline.after(7 * MS, -> { accept("queued", [2]) })
    run_until_ms(1_000)
    # Ticks at 15, 25 and so on. The spinner stops at 105, the short request at 109; from there the last one runs, and
    # its tenth tick is that of 205.
    assert_in_delta 109, 5 + ms("short"), 1e-9
    assert_in_delta 207, 7 + ms("queued"), 1e-9
  end

  test "time slices are wall time: a thread short of a core loses as much of its slice" do
    start(threads_count: 2, cores_count: 1.0)
    neighbour = new_worker(machine: machine, threads_count: 1, overhead_cpu_ns: 0)
    accept("neighbour", [SPINNER_MS], worker: neighbour)
    accept("long", [60])
    accept("short", [1])
    run_until_ms(1_000)
    # 100 ms of half a core leave 10 ms of the long burst; then the short one, then the rest, each at half speed.
    assert_in_delta 102, ms("short"), 1e-3
    assert_in_delta 122, ms("long"), 1e-3
  end

  test "after an answer a thread lets others have the GVL before its next request" do
    start(threads_count: 2)
    accept("a", [2])
    accept("b", [2, 1], [0])
    accept("next", [50])
    run_until_ms(1_000)
    # b comes back from its empty wait at 4, behind "next", which had lined up at 2.
    assert_in_delta 55, ms("b"), 1e-9
    assert_in_delta 54, ms("next"), 1e-9
  end
end
