# frozen_string_literal: true

require "test_helper"

class UnknownsTest < TunerTest
  include PumaTuner

  SOURCES = Dir[*%w[lib probe/lib].map { |folder| File.expand_path("../../#{folder}/**/*.rb", __dir__) }]

  # @return [Array<Array(String, String)>] field, or how it is computed, and cause
  def told = SOURCES.flat_map { |path| File.read(path).scan(/(?:Unknown\.of|\bunknown|\bwithout)\((?:observation, topology|:?(\w+)), (?::(\w+)|[^,)]*\? :(\w+) : :(\w+))/) }

  def words(...) = Report::Unknowns.of([Unknown.of(...)])

  test "there are words for every cause that code gives" do
    causes = told.flat_map { |_, *causes| causes.compact }.map(&:to_sym).uniq
    assert_operator causes.size, :>, 25
    assert_empty causes - Report::Unknowns::REASONS.keys - [:no_place]
  end

  test "every word belongs to a cause that code gives" do
    text = SOURCES.reject { |path| path.end_with?("report/unknowns.rb") }.map { |path| File.read(path) }.join
    assert_empty Report::Unknowns::REASONS.keys.reject { |cause| text.match?(/:#{cause}\b/) }
    assert_empty Report::Unknowns::NAMES.keys.reject { |field| text.match?(/:#{field}\b/) }
  end

  test "a name says whose it is, and a reason has its facts" do
    assert_equal({"endpoint GET /100%s" => "none of its 3 requests was recorded step by step; it is left out"}, words(:endpoint, :no_trace, whose: "GET /100%s", requests_count: 3))
    assert_equal({"memory.single_bytes" => "PSS could not be read of the single process"}, words(:single_bytes, :no_pss, role: "single"))
    assert_equal({"locks" => "44 times a lock was held that is none of the 256 recorded per process; in traces it is a wait like others"},
      words(:locks, :no_place, missed_count: 44, most_count: 256))
    assert_equal({"steps" => "2 of 300 traces have more than 512: what a request did afterwards is added to the last ones of its kind, so that sums are true and the order is not"},
      words(:steps, :cut, cut_count: 2, traces_count: 300, most_count: 512))
    assert_equal({"traces" => "a uniform sample: at most 300 per endpoint and process"}, words(:traces, :sampled, most_count: 300))
  end

  test "a cause of a newer version is told by its name" do
    assert_equal({"clock" => "stopped at noon"}, words(:clock, :stopped_at_noon))
  end
end
