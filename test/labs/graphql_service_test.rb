# frozen_string_literal: true

require "test_helper"
require "json"
require "support/few_rounds"

# Lab 08 in its short form: real runs, exact counts. How fast it is here is no matter.
class GraphqlServiceLabTest < TunerTest
  include PumaTuner

  time_limit 600

  def lab = Lab.find("graphql_service")

  test "the service loses its goal to counted locks, a forecast is made before the cure, and the report tells both" do
    skip "its gems are not installed: puma_tuner lab setup graphql_service --quick" if Lab::Gems.missing(lab.gems(quick: true)).any?
    notes = []
    finding = lab.call(FewRounds.new(lab, say: ->(text) { notes << text }))
    counted = finding.claims.select(&:exact).to_h { |claim| [claim.text, claim.exact.counted] }
    assert_equal({"locks per Parents query, as it was" => 44_528, "locks per Related query, as it was" => 20_528}, counted)
    refute_includes finding.claims.map(&:outcome), :differs
    assert_equal [%w[1.11.1 1.1.6], %w[1.11.1 1.1.7]], finding.verdicts.fetch("Related, YJIT off").cells.map { |cell| cell.fingerprint.values_at([:gem, "graphql"], [:gem, "concurrent-ruby"]) }
    assert_includes finding.conclusions.join, "POST /graphql Parents, POST /graphql Related"
    assert_match(/forecast is \d.* requests\/s instead of \d/, finding.conclusions.join)
    share = finding.conclusions.join[/slowest requests \(`profile --outliers`\), ([\d.]+)%.* has `compute_if_absent`/, 1]
    assert_includes 2..50, share.to_f, finding.conclusions.join("\n") # a fifth of the CPU time, and most of the time waits for the GVL
    assert_equal [["as it was", "with the cure"]] * 2, finding.tables.map { |table| table.rows.flatten & ["as it was", "with the cure"] }
    assert_includes notes.join("\n"), "goal at"
    %i[text html markdown].each { |format| assert_includes Report.render(finding, format:), "44,528" }
    assert_equal finding, Document.parse(Document.dump(finding), "finding", [:finding])
  end

  test "the request file asks for what the schema answers" do
    mix = Load::Mix.read(File.join(Lab.folder_of(lab), "requests.txt"), data_path: nil)
    assert_equal Labs::GraphqlServiceDay::WEIGHTS.values, mix.requests.map(&:weight)
    assert_equal Labs::GraphqlServiceDay::WEIGHTS.keys, mix.requests.map { |request| JSON.parse(request.body)["query"][/query (\w+)/, 1] }
  end
end
