# frozen_string_literal: true

require "test_helper"
require "support/command_line"

class FleetCommandTest < TunerTest
  include CommandLine

  def fleet(*words) = puma_tuner("fleet", *words)

  test "what can't be understood is a mistake, before anything is asked" do
    {
      [] => /--a is missing: the labels of the servers/, %w[--a yjit=off] => /"yjit=off" is not a selector; write labels as in PromQL/,
      ["--a", '{a="b"}', "--window", "7"] => /--window 7: write a number and s, m, h, d or w/, ["--a", '{a="b"}', "--a-end", "soon"] => /--a-end soon: write a time such as/,
      ["--a", '{a="b"}', "--url", "nowhere"] => /--url: write the address of a Prometheus/, ["--a", '{a="b"}', "--timeout", "0"] => /--timeout 0/,
      ["--a", '{a="b"}', "--header", "x"] => /write "Name: value"/, ["--a", '{a="b"}', "--output", "/no/such/folder/x"] => /no folder/
    }.each { |words, pattern| assert_mistake pattern, fleet(*words) }
  end

  test "help tells what it is for" do
    result = fleet("--help")
    assert_match(/Compare two groups of servers, or two periods/, result.out + result.err)
  end
end
