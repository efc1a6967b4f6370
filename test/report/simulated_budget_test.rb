# frozen_string_literal: true

require "test_helper"
require "support/builders"

class ReportSimulatedBudgetTest < TunerTest
  include Builders

  def budget(**parts) = PumaTuner::Report::SimulatedBudget.new(forecast("1x5", 100).with(budget: forecast_budget(**parts)))

  test "its parts make up the whole, gc out of cpu" do
    budget = budget(client_ns: 1.0, queue_ns: 2.0, cpu_ns: 5.0, gc_ns: 1.0, io_ns: 2.0)
    assert_equal [10.0, 4.0, 1.0], [budget.wall_ns, budget.part_ns(:cpu), budget.part_ns(:gc)]
    assert_in_delta 0.4, budget.share_ratio(:cpu)
    assert_in_delta 1.0, PumaTuner::Report::SimulatedBudget::PARTS.sum { |part| budget.share_ratio(part.name) }
  end

  test "gc that was not told apart is unknown and stays in cpu" do
    budget = budget(cpu_ns: 5.0, gc_ns: nil)
    assert_equal [5.0, 5.0, nil, nil], [budget.wall_ns, budget.part_ns(:cpu), budget.part_ns(:gc), budget.share_ratio(:gc)]
  end

  test "nothing has no shares" do
    assert_nil budget.share_ratio(:cpu)
  end
end
