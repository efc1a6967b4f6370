# frozen_string_literal: true

require "test_helper"
require_relative "../../benchmark/resize"

class ResizeBenchmarkTest < TunerTest
  kind :integration

  time_limit 120

  def survived(minutes: Resizing::MINUTES, **changes)
    Resizing::Survived.new(minutes:, seed: 1, answered_count: 900, lost: [], orders_count: 60, readings_count: 60, miscounted: [],
      last: [[4, 4, 4], [2, 2, 4]], complaints: [], **changes)
  end

  def windows(*per_s) = per_s.map { |one| Resizing::Window.new(per_s: one.to_f, p99_ns: 9) }

  def shape(ended: 480, ended_count: 7, **changes)
    rounds = {best: windows(*[500] * 6), ended: windows(*[ended] * 6), stay: windows(*[190] * 6)}
    Resizing::Shape.new(name: "waits", fixed: {1 => windows(60, 70, 65), 8 => windows(500, 510, 490)}, threads_count: ended_count, settled: true, stay_count: 3, rounds:, **changes)
  end

  test "a request that is lost, a thread that is miscounted, and a size that stays break a promise" do
    assert_empty survived.broken
    assert_match(/2 requests were lost: {"503" => 2}/, survived(lost: %w[503 503]).broken.first)
    assert_match(/other threads than there were/, survived(miscounted: [[7, [5, 4]]]).broken.first)
    assert_match(/after it/, survived(last: [[4, 4, 4], [5, 5, 5]]).broken.first)
    assert_match(/after it/, survived(last: [[4, 3, 4]]).broken.first)
    assert_equal ["puma_tuner: x; please report this"], survived(complaints: ["puma_tuner: x; please report this"]).broken
  end

  test "threads are miscounted where Puma's number is beyond all that the kernel had near the look, look after look" do
    second_ns = 1_000_000_000
    readings = ->(spawned_count, live_counts) { (1..4).flat_map { |at| live_counts.map { |live_count| [7, at * second_ns, spawned_count, at * second_ns + 1, live_count] } } }
    assert_empty Resizing::RandomSizes.miscounted(readings[5, [5]])
    assert_empty Resizing::RandomSizes.miscounted(readings[5, [4, 6]]), "it changes just then"
    assert_equal [7, [5, 5, 5]], Resizing::RandomSizes.miscounted(readings[5, [4]]).first
    assert_empty Resizing::RandomSizes.miscounted(readings[5, [4]].first(2)), "what has just ended is counted out at the next look"
  end

  test "what auto ends with is held against the best fixed number, measured anew beside it" do
    assert_equal [8, :met], [shape.best_count, shape.outcome]
    assert_in_delta 163, shape.worse_stay.value, 1
    assert_equal :missed, shape(ended: 440).outcome
    page = Resizing::Page.new(machine: PumaTuner::Probe::MachineFacts.read, survived:, shapes: [shape, shape(ended: 440)])
    assert_equal %i[met met missed], page.outcomes
    assert_match(/\*\*All promises were kept\.\*\*/, page.to_s)
    assert_match(/\| 500 \(490–510\) \|/, page.to_s)
    assert_match(/\| 8: 500\/s, p99 9 ns \| 7: 480\/s, p99 9 ns \| \+4% \(\+4 to \+4\) \| 3: 190\/s, p99 9 ns \| \+163% \(\+163 to \+163\) \| met \|/, page.to_s)
  end

  test "what noise covers, or still changes, is not shown" do
    best = windows(*[500] * 6)
    noisy = {best:, ended: windows(400, 510, 500, 390, 480, 520), stay: best}
    assert_equal :not_shown, shape(rounds: noisy).outcome
    assert_equal :not_shown, shape(settled: false).outcome
    assert_equal :missed, shape(ended: 300, settled: false).outcome
  end

  test "the page's command says QUICK=1 only where that was asked for" do
    page = ->(quick) { Resizing::Page.new(machine: PumaTuner::Probe::MachineFacts.read, survived:, shapes: [shape], quick:).to_s }
    assert_includes page[true], "`bin/exec rake resize QUICK=1`"
    assert_includes page[false], "`bin/exec rake resize`"
  end

  test "the page's command has the options that were given, and tells how long auto had" do
    survived = survived(minutes: 5.0).with(seed: 2)
    page = Resizing::Page.new(machine: PumaTuner::Probe::MachineFacts.read, survived:, shapes: [shape], quick: false).to_s
    assert_includes page, '`bin/exec rake resize OPTIONS="--minutes 5 --seed 2"`'
    assert_match(/finds its way, in \d+ s for each shape with trials of \d+ s/, page)
  end

  test "two numbers may be held beside each other alone, which is no page" do
    beside = Resizing::Beside.new(machine: PumaTuner::Probe::MachineFacts.read, found: {1 => windows(*[500] * 6), 2 => windows(*[480] * 6)})
    assert_match(/^2 threads are 4\.2% \(4\.2 to 4\.2\) worse than 1, in 6 rounds; 1: 500\/s, 2: 480\/s\.$/, beside.results)
    assert_equal [1, 2], Resizing::Options.parse(%w[--beside 1,2]).beside
    [%w[--beside 1,2 --write], %w[--beside 1], %w[--beside 1,x]].each do |words|
      assert_raises(OptionParser::InvalidArgument) { Resizing::Options.parse(words) }
    end
  end

  test "an auto that ended before its time fails the run" do
    thread = Thread.new { raise ArgumentError, "a fault" }.tap { |one| one.report_on_exception = false }
    Thread.pass while thread.alive?
    assert_raises(ArgumentError) { Resizing::TwoShapes.ensure_alive(thread) }
    assert_raises(PumaTuner::MeasurementFailed) { Resizing::TwoShapes.ensure_alive(Thread.new { nil }.tap(&:join)) }
    living = Thread.new { sleep }
    assert_nil Resizing::TwoShapes.ensure_alive(living)
  ensure
    living&.kill
  end

  test "a request that breaks, and one for which nobody listens, is lost and asked only once" do
    asked_count = 0
    listener = TCPServer.new("127.0.0.1", 0)
    soak = Resizing::RandomSizes.new(minutes: 1, seed: 1)
    soak.instance_variable_set(:@server, Struct.new(:port).new(listener.local_address.ip_port))
    server = Thread.new do
      3.times do
        client = listener.accept
        client.gets
        asked_count += 1
        client.close
      end
      listener.close
    end
    client = Thread.new { soak.send(:ask, ["/"]) }
    server.join
    sleep 0.3
    soak.instance_variable_set(:@stopped, true)
    count, lost = client.value
    assert_equal [0, 3], [count, asked_count]
    assert_equal 3, (lost - ["Errno::ECONNREFUSED"]).size
    assert_includes lost, "Errno::ECONNREFUSED"
  end

  test "a cluster that is resized at random for half a minute loses no request, and Puma counts right" do
    result = Resizing::RandomSizes.new(minutes: 0.5, seed: 3).run
    assert_empty result.broken
    assert_operator result.answered_count, :>, 200
    assert_operator result.orders_count, :>, 12
  end
end
