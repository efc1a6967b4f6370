# frozen_string_literal: true

require "test_helper"

PumaTuner::Lab.find("yjit_week")

# The published weeks through a real Prometheus.
class YjitWeekTest < TunerTest
  time_limit 600

  YjitWeek = PumaTuner::Labs::YjitWeek

  def setup
    super
    skip PrometheusProcess.why_not if PrometheusProcess.why_not
  end

  test "fleet tells the published figures from two weeks of samples, and how near the limit of YJIT the workers are" do
    lab = YjitWeek.new
    run = PumaTuner::Lab::Run.new(lab, quick: true)
    story = YjitWeek::RESOURCE.with(servers_count: 1)
    comparison = lab.compare(run, story, YjitWeek::Sizes.new(days_count: 6, step_s: 3_600))
    p99, memory, code = %w[p99 memory code].map { |name| comparison.row(name) }
    assert_in_delta 445 / 549.0, p99.ratio.value, 0.02
    assert_in_delta 84.2 / 64.3, memory.ratio.value, 0.01
    assert_in_delta 42.9 * PumaTuner::Units::MIB, code.b, 0.05 * PumaTuner::Units::MIB
    assert_equal [:better, :worse], [p99.outcome, memory.outcome]
    assert_in_delta 47.6 / 48, comparison.services.filter_map(&:code_limit_ratio).max, 0.001
    claims = lab.send(:claims, story, comparison)
    assert_equal [:reproduced, :reproduced], claims.map(&:outcome)
    assert_match(/42\.9 MiB of machine code in the mean is 89% of Ruby 3\.3's default limit .* fullest worker of this one at 99%/, lab.send(:sentences, story, comparison).join)
    assert_empty lab.send(:sentences, YjitWeek::AUTHORIZATION, comparison)
  end
end
