# frozen_string_literal: true

require "test_helper"
require "support/tuning_fixture"
require_relative "golden"

# How advice looks that has lines to set, a proof to run and a tail.
class ReportAdvicePageTest < TunerTest
  include Golden
  include PumaTuner

  def say(kind, **facts) = Statement.of(kind, **facts)

  def estimate(value) = Stats::Estimate.new(value:, low: value * 0.9, high: value * 1.1, level_ratio: 0.95, samples_count: 10)

  def time_slice
    Advise::Advice.new(rule: "long_bursts", topology: nil, throughput_ratio: estimate(1.01), p50_ratio: estimate(0.62), p99_ratio: estimate(1.2),
      title: say(:long_bursts), change: say(:short_timeslice, timeslice_ms: 10), cost: say(:longer_bursts), undo: say(:timeslice, timeslice_ms: nil),
      evidence: [say(:bursts_of_endpoint, endpoint: "GET /report", long_count: 9, requests_count: 60, long_ns: 50_000_000, longest_ns: 180_000_000), say(:others_wait, threads_count: 5)],
      lines: {"environment" => "RUBY_THREAD_TIMESLICE=10"}, factors: {"env.RUBY_THREAD_TIMESLICE" => "10"})
  end

  def preload
    Advise::Advice.new(rule: "preload", topology: nil, throughput_ratio: nil, p50_ratio: nil, p99_ratio: nil, title: say(:not_preloaded),
      change: say(:preload), cost: say(:fork_order, active_record: true), undo: say(:preload_off), evidence: [say(:own_memory, pss_bytes: 210 << 20, workers_count: 4)],
      lines: {"config/puma.rb" => "preload_app!\nbefore_worker_boot do\n  CACHE.reconnect\nend"}, factors: {"puma.preload_app" => "true"})
  end

  def tail
    parts = {gvl_wait: [1.2, 31.0], cpu: [3.6, 9.1], io: [6.1, 6.4], gc: [0.3, 4.2], queue: [0.0, 0.4], lock: [0, 0], sleep: [0, 0]}
    Advise::Tail.new(percentile_ratio: 0.99, slow_count: 6, requests_count: 512, cause: :gvl_wait, cause_ratio: 0.7498, p99_ns: estimate(61_000_000.0),
      parts: parts.map { |name, (usual_ms, slow_ms)| Advise::TailPart.new(name:, usual_ns: usual_ms * 1_000_000, slow_ns: slow_ms * 1_000_000) },
      without_gc_ratio: estimate(0.95), one_thread_ratio: estimate(0.55))
  end

  def list = Advise::AdviceList.new(advice: [TuningFixture.go, time_slice, preload], tail:)

  test "in a terminal" do
    assert_golden "advice_with_lines.txt", Report.render(list, format: :text)
  end

  test "in a summary" do
    assert_golden "advice_with_lines.md", Report.render(list, format: :markdown)
  end

  test "on a page lines stand as they are to be typed" do
    html = Report.render(list, format: :html)
    assert_includes html[/<article class="remark">.*?<.article>/m], "<p><code>config/puma.rb</code></p><pre>preload_app!\nbefore_worker_boot do\n  CACHE.reconnect\nend\n</pre>"
    assert_includes html[/<article.*<.article>/m], "puma_tuner prove --variant today: --variant advised:env.RUBY_THREAD_TIMESLICE=10"
  end
end
