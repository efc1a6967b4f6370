# frozen_string_literal: true

require "test_helper"
require "json"
require "support/builders"

class SelfCheckWordsTest < TunerTest
  include Builders

  Words = Report::SelfCheckWords

  def figure(metric) = Predict::CheckedFigure.new(metric:, recorded: 1.0e6, simulated: estimate(3.0e6), error_ratio: 0.2, beyond_noise: true)

  test "there are words for each likely cause, and a likely cause for all words" do
    parts = Predict::LikelyCause::DEMANDED + Predict::LikelyCause::FOLLOWING
    assert_equal [*parts.map(&:to_sym), :io_late, :load_not_ours, :lock_not_watched, :no_part, :others].sort, Words::CAUSES.keys.sort
    assert_equal Words::CAUSES.size, Words::CAUSES.values.uniq.size
  end

  test "one recording that is missed is told whole at the beginning, of several how far each is off" do
    settings = [[figure("p50"), figure("io")], [figure("io")], [figure("p50")]].zip(%w[1x5 2x5 2x1]).map do |figures, topology|
      Predict::CheckedSetting.new(scenario: scenario(topology), figures:, cause: PumaTuner::Statement.of(:no_part))
    end
    check = Predict::SelfCheck.new(settings: settings.first(1))
    assert_equal Words.sentences(check).join(" "), Words.in_short(check)
    check = Predict::SelfCheck.new(settings:)
    assert_match(/\AThe model does not reproduce 3 of 3 recordings: 1x5 with 10 connections \(p50 \+20%\); 2x5 with 10 connections \(where/, Words.in_short(check))
    assert_nil Words.in_short(nil)
  end

  test "a cause tells the figure that it is about, with both numbers" do
    cause = PumaTuner::Statement.of(:sleep, figure: figure("sleep"))
    assert_equal "the app sleeps for different times at that setting (sleep 3.00 ms simulated, 1.00 ms recorded)", Words.cause(cause)
    assert_equal cause, PumaTuner::Statement.from_document(JSON.parse(JSON.generate(cause.to_document)))
    assert_equal "p50 3.00 ms simulated, 1.00 ms recorded (+20%)", Words.figure(figure("p50"))
  end

  test "of waits for IO that take other times the kind of most is named, where there is one" do
    known, unknown = [{part: "file"}, {}].map { |facts| Words.cause(PumaTuner::Statement.of(:io, figure: figure("io"), **facts)) }
    assert_match(/\Awaits for IO, mostly for files, take different times .* --station file=N \(io 3\.00 ms .*\)\z/, known)
    assert_match(/\Awaits for IO take different times .* --station KIND=N \(io /, unknown)
  end

  test "sentences from older files are shown as they are, and statements of newer ones by name" do
    assert_equal "caches are cold", Words.cause(PumaTuner::Statement.from_document("caches are cold"))
    assert_equal "cold caches", Words.cause(PumaTuner::Statement.of(:cold_caches))
  end
end
