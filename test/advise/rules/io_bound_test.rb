# frozen_string_literal: true

require "test_helper"
require "support/advising"

class IoBoundRuleTest < TunerTest
  include Advising

  def page = endpoint_demand(demand([4]), name: "GET /page", weight_ratio: 0.5)

  # @param cpu_ms [Numeric] beside 100 ms of waiting
  def upstream(cpu_ms = 1) = endpoint_demand(demand([cpu_ms, 0], [100]), name: "GET /upstream", weight_ratio: 0.5)

  def asked(*endpoints, puma_version: "8.0.2", per_s: 150, observation: nil)
    ask(Advise::Rules::IoBound, of: workload(endpoints:).with(puma_version:), observation:, today: "1x3") { |_, settings| forecast("1x3", (settings[:io_threads_count] == 3) ? per_s : 1) }
  end

  test "endpoints that hardly need the GVL are named, and those that do, too" do
    advice = asked(page, upstream).first
    assert_equal "Mark GET /upstream as I/O-bound", advice.title
    assert_includes advice.evidence, "GET /upstream needs the GVL for 1.0% of its time and waits for 100 ms: it deserves `puma.mark_as_io_bound`."
    assert_includes advice.evidence, "GET /page needs the GVL for 100.0% of its time: marked, it would only take it from others."
    assert_equal "max_io_threads 3", advice.lines["config/puma.rb"]
    assert_empty advice.factors, "the option alone does nothing, and a proof of it would show nothing"
  end

  test "an endpoint with a tenth of the GVL or more does not deserve it" do
    assert_empty asked(page, upstream(12))
    refute_empty asked(page, upstream(11))
  end

  test "where all wait alike more threads do the same, and where nothing is gained there is nothing to say" do
    assert_empty asked(upstream)
    assert_empty asked(page, upstream, per_s: 100)
  end

  test "it is said of a Puma that can do it, and where nobody has done it yet" do
    assert_empty asked(page, upstream, puma_version: "7.2.1")
    assert_empty asked(page, upstream, observation: in_force(observation, "puma max_io_threads": "5"))
    refute_empty asked(page, upstream, observation: in_force(observation, "puma max_io_threads": "0"))
  end

  test "the fault of the first releases is told" do
    assert_match(/3958/, asked(page, upstream).first.evidence.last)
    refute_match(/3958/, asked(page, upstream, puma_version: "8.0.3").first.evidence.join)
  end
end
