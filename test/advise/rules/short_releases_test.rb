# frozen_string_literal: true

require "test_helper"
require "support/advising"

class ShortReleasesRuleTest < TunerTest
  include Advising

  # @param count [Integer] calls that come back at once
  def chatty(count, ms: 0.01, kind: "file") = workload(endpoints: [endpoint_demand(demand([0.1] * (count + 1), [ms] * count, wait_kinds: [kind] * count))])

  # @param saved [Numeric] requests/s without those calls
  # @param fewer [Hash{Integer => Numeric}] by threads
  # @param fewer_p99_ms [Numeric] where 100 is today's
  def asked(of, saved: 130, fewer: {}, fewer_p99_ms: 100, today: "1x5")
    ask(Advise::Rules::ShortReleases, of:, today:) do |what_if, settings|
      what_if ? forecast(today, saved) : forecast(today, fewer.fetch(settings[:topology].threads_count, 100), p99_ms: fewer_p99_ms)
    end
  end

  test "ten calls of a request that come back at once are told, by kind, with the forecast without them" do
    advice = asked(chatty(12)).first
    assert_equal "A mean request lets go of the GVL 12 times for calls that come back at once", advice.title
    assert_in_delta 1.3, advice.throughput_ratio.value
    assert_includes advice.evidence, "Without those of the kind file: 1.30x requests/s (1.27x to 1.33x), 1.00x p99 (0.98x to 1.02x)."
    assert_equal 1, asked(chatty(12)).size
    assert_empty asked(chatty(9))
  end

  test "calls that take their time are none of these" do
    assert_empty asked(chatty(12, ms: 0.06))
  end

  test "nothing is said where neither the calls saved nor fewer threads would bring anything, nor of one thread" do
    assert_empty asked(chatty(12), saved: 100)
    assert_empty asked(chatty(12), today: "1x1")
  end

  test "fewer threads are an advice of their own, with the forecast of these threads" do
    calls, threads = asked(chatty(12), saved: 130, fewer: {1 => 120, 2 => 140})
    assert_in_delta 1.3, calls.throughput_ratio.value
    assert_empty calls.lines.merge(calls.factors), "what saves calls is no setting"
    refute_match(/threads? in each worker/, [calls.change, *calls.evidence].join)
    assert_in_delta 1.4, threads.throughput_ratio.value
    assert_equal [{"config/puma.rb" => "threads 2, 2"}, {"threads" => "2"}], [threads.lines, threads.factors]
    assert_equal ["2 threads in each worker", "5 threads again"], [threads.change, threads.undo]
    assert_equal ["With 1 thread in each worker: 1.20x requests/s (1.18x to 1.22x), 1.00x p99 (0.98x to 1.02x).",
      "With 2 threads in each worker: 1.40x requests/s (1.37x to 1.43x), 1.00x p99 (0.98x to 1.02x)."], threads.evidence.last(2)
    assert_equal [{"threads" => "2"}], asked(chatty(12), saved: 100, fewer: {2 => 140}).map(&:factors)
  end

  test "fewer threads are not advised for a shorter tail that takes requests/s, nor for what may be none" do
    assert_empty asked(chatty(12), saved: 100, fewer: {1 => 90, 2 => 101}, fewer_p99_ms: 80)
  end

  test "nor where clients are too few for today's threads, whatever the forecast" do
    fewer = ->(bottleneck) {
      ask(Advise::Rules::ShortReleases, of: chatty(12), today: forecast("1x5", 100, bottleneck:, arrivals: Model::Arrivals.closed(4))) do |what_if, settings|
        forecast("1x5", (what_if || settings[:topology].threads_count != 2) ? 100 : 140)
      end
    }
    assert_equal [1, 0], %w[gvl clients].map { |bottleneck| fewer[bottleneck].size }
  end

  test "what to do, what it takes and how to go back are those of the calls' kind" do
    file, other, redis = %w[file io redis].map { |kind| asked(chatty(12, kind:)).first }
    assert_match(/small files .* in memory.* lines of a log/, file.change)
    assert_equal "buffer what is written, such as a log's lines on standard output", other.change
    assert_equal ["work on the code; of buffered lines, the last ones where a process is killed", "lines written one by one"], [other.cost, other.undo]
    assert_match(/keep answers in a cache\z/, redis.change)
    refute_match(/lines/, [redis.cost, redis.undo].join)
    assert_match(/of the kind other are shorter/, other.evidence.first)
  end
end
