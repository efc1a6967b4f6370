# frozen_string_literal: true

require "test_helper"
require "fleet/simulated_answers"
require "shellwords"
require "stringio"
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

  test "the command that repeats it has all that what is told rests on, and no header" do
    command = PumaTuner::CLI::Commands::Fleet
    FakePrometheus.open(SimulatedAnswers.call) do |fake|
      words = ["--url", fake.url, "--a", '{yjit="off"}', "--b", '{yjit="on"}', "--window", "1d", "--step", "15m", "--source", "raw",
        "--a-end", "1795000000", "--b-end", "1795000000", "--by", "service", "--seed", "7", "--services", '{service="shop"}',
        "--slo", "90% < 300ms", "--slo", "GET /a: 99% < 1s"]
      out = StringIO.new
      given = command.parse([*words, "--header", "X-Scope-OrgID: team", "--output", "-"])
      command.new(out:, err: StringIO.new).call(**given.except(:verbose))
      told = Shellwords.split(PumaTuner::Document.parse(out.string, "-", [:fleet]).command)
      assert_equal %w[puma_tuner fleet], told.first(2)
      assert_equal command.parse(words), command.parse(told.drop(2))
    end
  end

  test "help tells what it is for" do
    result = fleet("--help")
    assert_match(/Compare two groups of servers, or two periods/, result.out + result.err)
  end
end
