# frozen_string_literal: true

require "test_helper"
require "support/advising"

class ShortReleasesRuleTest < TunerTest
  include Advising

  # @param count [Integer] calls that come back at once
  def chatty(count, ms: 0.01) = workload(endpoints: [endpoint_demand(demand([0.1] * (count + 1), [ms] * count, wait_kinds: ["file"] * count))])

  def asked(of, saved: 130, fewer: 100, today: "1x5")
    ask(Advise::Rules::ShortReleases, of:, today:) { |what_if, _| forecast(today, what_if ? saved : fewer) }
  end

  test "ten calls of a request that come back at once are told, by kind, with the forecast without them" do
    advice = asked(chatty(12)).first
    assert_equal "A mean request lets go of the GVL 12 times for calls that come back at once", advice.title
    assert_in_delta 1.3, advice.throughput_ratio.value
    assert_includes advice.evidence, "Without those of the kind file (buffered writes, a cache): 1.30x requests/s (1.27x to 1.33x), 1.00x p99 (0.98x to 1.02x)."
    assert_empty asked(chatty(9))
  end

  test "calls that take their time are none of these" do
    assert_empty asked(chatty(12, ms: 0.06))
  end

  test "nothing is said where neither the calls saved nor fewer threads would bring anything, nor of one thread" do
    assert_empty asked(chatty(12), saved: 100)
    assert_empty asked(chatty(12), today: "1x1")
  end

  test "where fewer threads bring more, the line to set says how many" do
    advice = asked(chatty(12), saved: 100, fewer: 140).first
    assert_equal "threads 1, 1", advice.lines["config/puma.rb"]
    assert_match(/fewer threads/, advice.change)
    assert_empty asked(chatty(12)).first.lines
  end
end
