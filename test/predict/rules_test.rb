# frozen_string_literal: true

require "test_helper"
require "support/builders"

class RulesTest < TunerTest
  include Builders

  Rules = PumaTuner::Predict::Rules

  test "Puma's versions fall into three families" do
    park, poll_todo, poll_inline = %i[park poll_todo poll_inline]
    families = {"5.6.9" => park, "6.6.1" => park, "7.0.4" => poll_todo, "7.1.0" => poll_inline, "7.2.1" => poll_inline,
                "8.0.2" => poll_inline, nil => poll_inline}
    families.each do |version, after_response|
      assert_equal after_response, Rules.puma(version)[:after_response], version.to_s
    end
    assert_equal [1, 0], [Rules.puma("6.0.0")[:gate], Rules.puma("7.0.0")[:gate]]
  end

  test "without a reactor, Puma after 8.0.2 has its old gate again, and no delay" do
    gates = %w[6.6.1 7.2.1 8.0.2 8.0.3 8.1.0].map { |version| Rules.puma(version, queue_requests: false).values_at(:gate, :overload_delay_ns) }
    assert_equal [[1, 0], [0, 5_000_000], [0, 5_000_000], [1, 0], [1, 0]], gates
  end

  # Puma source at these tags: server.rb, thread_pool.rb, configuration.rb.
  test "what a busy worker does before it accepts changed in several steps" do
    rules = ->(version) { Rules.puma(version).values_at(:gate, :busy_delay_ns, :single_delay, :overload_delay_ns) }
    ms = 1_000_000
    {"5.6.9" => [1, 0, 0, 0], "6.0.0" => [1, 5 * ms, 1, 0], "6.4.3" => [1, 5 * ms, 1, 0], "6.5.0" => [1, 5 * ms, 0, 0], "7.0.3" => [0, 0, 0, 3.75 * ms],
     "7.0.4" => [0, 0, 0, 5 * ms], "8.0.2" => [0, 0, 0, 5 * ms]}.each { |version, expected| assert_equal expected, rules.call(version), version }
    assert_equal [0, 0, 1], %w[8.0.2 7.2.1 8.1.0].map { |version| Rules.puma(version)[:queueless_gate] }
    assert_equal [0, 1, 1], %w[7.2.1 8.0.0 8.1.0].map { |version| Rules.puma(version)[:io_threads] }
    assert_equal Rules.puma("8.0.2"), Rules.puma(nil)
  end

  test "without its queue a Puma after 8.0.2 waits for a free thread, and the others do as they do with it" do
    rules = ->(version, features: nil) { Rules.puma(version, features:, queue_requests: false).values_at(:gate, :overload_delay_ns) }
    assert_equal [0, 5_000_000], rules.call("8.0.2")
    assert_equal [1, 0], rules.call("8.0.2", features: %w[queueless_gate overload_delay io_threads])
    assert_equal [1, 0], rules.call("8.1.0")
    assert_equal Rules.puma("6.6.1"), Rules.puma("6.6.1", queue_requests: false)
  end

  test "what a Puma was seen to have comes before its number" do
    main = %w[queueless_gate overload_delay io_threads]
    assert_equal Rules.puma("8.1.0"), Rules.puma("8.0.2", features: main)
    assert_equal Rules.puma("6.6.1"), Rules.puma("8.0.2", features: %w[accept_gate busy_delay park])
    assert_equal Rules.puma("8.0.2"), Rules.puma("6.6.1", features: %w[overload_delay io_threads])
    assert_equal [0, 0], Rules.puma("6.6.1", features: %w[park]).values_at(:gate, :busy_delay_ns)
    assert_equal 0, Rules.puma("8.0.2", features: %w[io_threads])[:overload_delay_ns]
    # What only the number tells stays.
    assert_equal Rules.puma("7.0.3"), Rules.puma("7.0.3", features: [])
    assert_equal Rules.puma("6.4.2"), Rules.puma("6.4.2", features: %w[accept_gate busy_delay park])
  end

  test "a plan goes by what the recorded Puma was seen to have" do
    gate = lambda do |features|
      Predict::Plan.new(workload: workload.with(puma_features: features), machine:, scenario: scenario("2x2"), seed: 1,
        requests_count: 1).to_h[:gate]
    end
    assert_equal [0, 0, 1], [nil, %w[overload_delay io_threads], %w[accept_gate busy_delay park]].map(&gate)
  end

  test "the GVL is thrown, handed over, or taken back" do
    rules = {"3.1.2" => :barging, "3.2.8" => :barging, "3.3.0" => :fifo, "3.4.5" => :fifo, "4.0.5" => :fifo,
             "4.1.0" => :hot, "4.1.0dev" => :hot}
    rules.each do |version, rule|
      assert_equal rule, Rules.gvl(version), version
      assert_equal :hot, Rules.gvl(version, measured: "hot"), "a patched build"
    end
  end

  # Measured: 50 ms gives 50.4, 25 gives 30.5, 15 gives 20.3, 10, 5 and 1 give 10.1.
  test "a time slice is a whole number of ticks; Ruby before 3.4 has no choice" do
    assert_equal [10, 5, 3, 2, 1, 1, 1], [nil, 50, 25, 15, 10, 5, 1].map { |timeslice_ms| Rules.ticks_per_slice(timeslice_ms, "3.4.5") }
    assert_equal 10, Rules.ticks_per_slice(10, "3.3.8")
  end
end
