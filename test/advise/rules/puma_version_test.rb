# frozen_string_literal: true

require "test_helper"
require "support/advising"

class PumaVersionRuleTest < TunerTest
  include Advising

  # @param p99_ms [Numeric] with another Puma's rules; 100 today
  # @return [Array<Integer>] numbers of the issues that are told of
  def issues(puma_version, today: "1x5", p99_ms: 50, **settings)
    arrivals = Model::Arrivals.closed(4)
    asked(puma_version, today:, p99_ms:, arrivals:, **settings).map { |advice| advice.title[/#(\d+)/, 1].to_i }
  end

  def asked(puma_version, today:, p99_ms:, arrivals:, **settings)
    ask(Advise::Rules::PumaVersion, observation: in_force(observation, **settings), of: workload.with(puma_version:, arrivals:), today:) { forecast(today, 100, p99_ms:) }
  end

  test "I/O threads are not counted any more when they end, up to 8.0.2" do
    settings = {"puma max_io_threads": "5"}
    assert_equal [3958], issues("8.0.2", **settings)
    assert_empty issues("8.0.3", **settings)
    assert_empty issues("8.0.2", "puma max_io_threads": "0")
    assert_empty issues("7.2.1", **settings)
  end

  test "workers with one thread accept while they serve, from 7.0 to 8.0.2" do
    assert_equal [3961], issues("7.2.1", today: "4x1")
    assert_equal [3961], issues("8.0.2", today: "4x1")
    assert_empty issues("6.6.1", today: "4x1")
    assert_empty issues("8.0.3", today: "4x1")
    assert_empty issues("7.2.1", today: "4x2")
    assert_empty issues("7.2.1", today: "1x1")
  end

  test "kept connections go on before those that wait, up to Puma 6, where there are more than threads" do
    crowd = Model::Arrivals.closed(20)
    told = ->(version, arrivals) { asked(version, today: "1x5", p99_ms: 50, arrivals:).map { |advice| advice.title[/#(\d+)/, 1] } }
    assert_equal ["3487"], told.call("6.4.2", crowd)
    assert_empty told.call("7.0.4", crowd)
    assert_empty told.call("6.4.2", crowd.with(reuse_count: 1))
    assert_empty told.call("6.4.2", Model::Arrivals.closed(5))
  end

  test "a fault whose cure is forecast to bring less than a tenth of p99 is not this app's" do
    assert_empty issues("7.2.1", today: "4x1", p99_ms: 91)
    refute_empty issues("7.2.1", today: "4x1", p99_ms: 89)
  end

  test "the cure is a line for the Gemfile, or for puma.rb" do
    advice = asked("7.2.1", today: "4x1", p99_ms: 50, arrivals: Model::Arrivals.closed(4)).first
    assert_equal [{"Gemfile" => 'gem "puma", "~> 6.6"'}, {"gem.puma" => "6.6.1"}], [advice.lines, advice.factors]
    assert_in_delta 0.5, advice.p99_ratio.value
    assert_equal({"config/puma.rb" => "max_io_threads 0"}, asked("8.0.2", today: "1x5", p99_ms: 50, arrivals: Model::Arrivals.closed(4), "puma max_io_threads": "5").first.lines)
  end
end
