# frozen_string_literal: true

require "test_helper"
require_relative "../../benchmark/soak"

class SoakTest < TunerTest
  kind :integration

  computes! # its clients ask for a minute and a half

  time_limit 240

  def result(**changes)
    counts = {probe: Soak::Counts.new(1_000, 990, 12), none: Soak::Counts.new(1_100, 1_100, 0)}
    Soak::Result.new(minutes: 3, seed: 1, events: {kill_worker: 2}, growth_bytes: {probe: [[1 << 20, 2 << 20]], none: [[1 << 20, 2 << 20]]}, counts:, recorded_count: 1_000, killed_count: 2,
      own_growth_bytes: 0, ledger_bytes: 8 << 20, lines: [], quiet_requests_count: 37_000, **changes)
  end

  test "a request that is lost, or counted twice, a worker that grows and a server that complains break a promise" do
    assert_empty result.broken
    assert_empty result(recorded_count: 994).broken, "requests under way in workers that were killed"
    assert_match(/993 requests were recorded/, result(recorded_count: 993).broken.first)
    assert_match(/1007 requests were recorded/, result(recorded_count: 1_007).broken.first)
    assert_match(/grew by 1025 KiB more/, result(own_growth_bytes: 1_025 << 10).broken.first)
    assert_match(/\[BUG\]/, result(lines: ["[BUG] Segmentation fault"]).broken.first)
    counts = {probe: Soak::Counts.new(1_000, 1_100, 12), none: Soak::Counts.new(1_100, 1_100, 0)}
    assert_match(/clients 1100/, result(counts:).broken.first)
    counts = {probe: Soak::Counts.new(299, 299, 19), none: Soak::Counts.new(1_100, 1_100, 0)}
    nothing = result(growth_bytes: {probe: [], none: [[1, 2]]}, counts:, recorded_count: 299).broken
    assert_match(/\A0 workers of the server with the probe lived/, nothing[0])
    assert_match(/\A299 requests had their response from the server with the probe, which is no soak/, nothing[1])
    assert_match(/\A19 connections broke with the probe, 0 without/, nothing[2])
    page = Soak::Page.new(machine: PumaTuner::Probe::MachineFacts.read, result:).to_s
    assert_match(/All promises were kept/, page)
    assert_match(/kill worker 2/, page)
    assert_match(/8192 KiB were in a worker's RSS/, page)
    assert_match(/served 37,000 requests: memory that is lost at each of them is seen here from 29 bytes on/, page)
  end

  test "what a server says is kept from its first line on, though its log is not" do
    complaints = Soak::Complaints.new
    ["puma_tuner: x\n", "all is well\n", "a [BUG] y\xff\n", "puma_tuner: x\n"].each { |line| complaints.write(line) }
    assert_equal ["puma_tuner: x", "a [BUG] y\uFFFD"], complaints.lines
  end

  test "less than an hour is not worth the page" do
    assert_raises(OptionParser::InvalidArgument) { Soak::Options.parse(%w[--minutes 10 --write]) }
    assert Soak::Options.parse(%w[--write]).whole?
  end

  # Its first three events are a restart in place, a reader that is killed, and a burst.
  SEED = 14

  # Twelve clients without a rest would keep both cores busy for a minute and a half, while other tests wait for them. With it each kind of
  # request still comes some hundred times to each worker before its memory is compared, and bursts saturate all.
  REST_S = 0.02

  test "a soak of a minute breaks no promise" do
    result = Soak::Pair.new(minutes: 1, seed: SEED, say: ->(_) {}, rest_s: REST_S).run
    assert_operator result.counts[:probe].answered, :>, 1_000
    assert_operator result.events.values.sum, :>=, 3
    assert_operator result.quiet_requests_count, :>, 100
    assert_empty result.broken
  end
end
