# frozen_string_literal: true

require "test_helper"
require "support/tuning_fixture"

class ReportEndpointGroupsTest < TunerTest
  def groups(rows_max) = PumaTuner::Report::Sections::Works.groups(TuningFixture.observation.endpoints, rows_max)

  test "the busiest come first, and the rest is one with the quantiles of all its requests" do
    assert_equal ["GET /articles", "GET /articles/:id", "3 others"], groups(3).map(&:name)
    assert_equal 1_112, groups(3).last.latency.count
    assert_in_delta 112 * 1_000_000, groups(3).last.p50_ns, 8 * 1_000_000
  end

  test "all endpoints are shown where they fit" do
    assert_equal TuningFixture::ENDPOINTS.map(&:first), groups(5).map(&:name)
  end
end
