# frozen_string_literal: true

require "test_helper"
require "json"
require "open3"

# What the probe would have to rest on with M:N threads, and what stands in its way.
class MythBustersMNEventsTest < TunerTest
  time_limit 120

  FILE = File.expand_path("../../../labs/07-myth-busters/mn/events.rb", __dir__)

  def events(mn)
    output, errors, status = Open3.capture3({"RUBY_MN_THREADS" => (mn ? "1" : "0")}, RbConfig.ruby, FILE)
    assert status.success?, errors
    JSON.parse(output)
  end

  test "events of M:N threads name their thread, come in order, and a hold begins and ends on one native thread" do
    found = events(true)
    assert_operator found["holds"], :>, 300
    assert_equal [0, 0], found.values_at("out_of_order", "holds_that_change_native_thread")
  end

  test "several M:N threads run on one native thread, so that its CPU clock is nobody's own; of plain threads each has one" do
    assert_operator events(true)["native_threads_that_several_run_on"], :>, 0
    assert_equal 0, events(false)["native_threads_that_several_run_on"]
  end
end
