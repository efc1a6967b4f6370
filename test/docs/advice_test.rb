# frozen_string_literal: true

require "test_helper"

# The page about advice, beside the rules that there are.
class AdvicePageTest < TunerTest
  PAGE = File.read(File.expand_path("../../docs/reference/advice.md", __dir__))

  test "each rule has a section, in the order of their priorities" do
    sections = PAGE.scan(/^## .* \(`(\w+)`\)$/).flatten
    sorted = PumaTuner::Advise::Rules.all.sort_by { |rule| -rule::PRIORITY }
    rules = sorted.map { |rule| PumaTuner::Advise::Rules::PATHS.fetch(rule.name[/\w+\z/].to_sym) }
    assert_equal rules.map { |path| File.basename(path, ".rb") }, sections
  end

  test "the thresholds that it names are the rules'" do
    rules = PumaTuner::Advise::Rules
    {
      "They take 5% of the requests' time" => [rules::StarvedPool::LEAST_RATIO, 0.05], "a fifth of the requests' time" => [rules::LockBound::LEAST_RATIO, 0.2],
      "over half of an endpoint's time, in ten round trips" => [[rules::Queries::LEAST_DB_RATIO, rules::Queries::LEAST_COUNT], [0.5, 10]],
      "the forecast gains 5%" => [rules::Affinity::LEAST_GAIN_RATIO, 1.05], "over 5% of the time" => [rules::Affinity::MOST_COMPUTE_RATIO, 0.05],
      "less than a tenth of their time" => [rules::IoBound::MOST_HELD_RATIO, 0.1], "has ten of them" => [rules::ShortReleases::LEAST_COUNT, 10],
      "a quarter of the requests" => [rules::SpoilingEndpoint::MOST_WEIGHT_RATIO, 0.25], "bursts of 50 ms" => [rules::LongBursts::LONG_BURST_NS, 50_000_000],
      "a twentieth of the time" => [rules::BackgroundThreads::LEAST_CORE_RATIO, 0.05], "a tenth of the CPU time" => [rules::Gc::LEAST_GC_RATIO, 0.1],
      "a third more than its share" => [rules::KeepAlive::LEAST_RATIO, 4.fdiv(3)], "max_keep_alive 20" => [rules::KeepAlive::MOST_REQUESTS_COUNT, 20],
      "two thirds of the memory limit" => [rules::Malloc::LEAST_LIMIT_RATIO, 2.fdiv(3)], "85% are used" => [PumaTuner::Probe::YjitLimit::ALARM_RATIO, 0.85]
    }.each do |words, (now, written)|
      assert_includes PAGE.downcase, words.downcase
      assert_equal written, now, words
    end
  end
end
