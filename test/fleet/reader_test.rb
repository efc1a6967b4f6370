# frozen_string_literal: true

require "test_helper"
require "json"
require_relative "simulated_answers"

class FleetReaderTest < TunerTest
  include PumaTuner::Fleet

  InvalidMeasurement = PumaTuner::InvalidMeasurement

  NOW_S = 1_795_000_000

  def question(a: '{yjit="off"}', b: '{yjit="on"}', ends: [NOW_S, NOW_S], duration_s: 86_400, source: "raw", **others)
    Reader::Question.new(selectors: [a, b].map { |text| Selector.parse(text) }, ends:, duration_s:, step_s: nil, source:, by: nil, all: Selector.parse("{}"), seed: 1, **others)
  end

  # @param overrides [Hash] see SimulatedAnswers
  # @return [Comparison]
  def compare(overrides = {}, date: nil, timeout_s: 5, **words)
    FakePrometheus.open(SimulatedAnswers.call(overrides), date:) do |fake|
      @fake = fake
      Reader.new(Prometheus.new(fake.url, timeout_s:), question(**words)).call
    end
  end

  def vector(*labels_and_values) = {resultType: "vector", result: labels_and_values.map { |metric, value| {metric:, value: [1, value.to_s]} }}

  # Changes what a range query is answered, series by series.
  def with_values(pattern)
    {pattern => lambda { |request|
      result = SimulatedAnswers.range(request, request.parameters["query"])
      {resultType: "matrix", result: result.map { |series| yield(series) }.compact}
    }}
  end

  test "two groups are compared" do
    comparison = compare
    assert_equal "raw", comparison.source
    assert_in_delta 100_000_000, comparison.row("p99").a, 1
    assert_in_delta 0.05 + 0.05 * 0.04 / 0.05, comparison.row("p99").b / 1e9, 1e-9
    assert_equal [1.0e9, 1.3e9], [comparison.row("memory").a, comparison.row("memory").b]
    assert_in_delta 1.3, comparison.row("memory").ratio.value, 1e-9
    assert_nil comparison.row("throughput").outcome
    assert_empty comparison.warnings
    assert_equal [4, 21_600, 96], [comparison.blocks_count, comparison.block_s, comparison.a.compared_count]
    assert_equal false, comparison.mix.shifted
  end

  test "goals are held against each group, of all requests and of one endpoint, and told with their share" do
    goals = ["90% < 20ms", "99% < 100ms", "GET /a: 50% < 100ms", "GET /nowhere: 50% < 1s"].map { |text| PumaTuner::Goal.read(text) }
    found = compare(goals:)
    [found.a, found.b].each do |group|
      assert_equal goals.first(group.attainments.size), group.attainments.map(&:goal)
      group.attainments.each { |one| assert one.share.value.between?(one.share.low - 1e-9, one.share.high + 1e-9) }
    end
    assert_operator found.b.attainments.first.share.value, :>, found.a.attainments.first.share.value, "group on is faster"
    assert_match(/^ *Goals\n+ +a +90% < 20 ms: (met|missed): \d+\.\d% \(.*\) of [\d,]+ requests took less/, PumaTuner::Report.render(found, format: :text))
  end

  test "days show what a day does not, and a day says why" do
    names = %w[p99 memory cpu_per_request]
    week, day = compare(duration_s: 7 * 86_400), compare
    assert_equal [7, 86_400], [week.blocks_count, week.block_s]
    assert_equal [%i[better worse better], [nil]], [names.map { |name| week.row(name).outcome }, names.map { |name| week.row(name).reason }.uniq]
    assert_equal [[:not_shown], [:short_blocks]], [names.map { |name| day.row(name).outcome }.uniq, names.map { |name| day.row(name).reason }.uniq]
    assert_match(/p99, .*: not shown, whatever the figures are\. Parts of a day.*four days/m, PumaTuner::Report.render(day, format: :text).gsub(/\s+/, " "))
    refute_match(/whatever the figures/, PumaTuner::Report.render(week, format: :text))
  end

  test "a percentile is known to its bucket, and says so" do
    assert_in_delta 1.0 / 3, compare.row("p99").error_ratio, 1e-6
    assert_nil compare.row("memory").error_ratio
  end

  test "a metric that one group lacks is unknown, with a reason, and has no ratio" do
    comparison = compare
    row = comparison.row("code")
    assert_nil row.a
    assert_equal 2.0e7, row.b
    assert_nil row.ratio
    assert_includes comparison.unknown, PumaTuner::Unknown.of(:metric, :no_sample, whose: "code_region_size, mean")
  end

  test "a document is read as it was written" do
    comparison = compare
    assert_equal comparison, PumaTuner::Document.parse(PumaTuner::Document.dump(comparison), "fleet.json", [:fleet])
  end

  test "services are told of, with what they could do without" do
    service = compare.services.first
    assert_equal "shop", service.name
    assert_equal [4, 5.0, 3], [service.workers_count, service.threads_per_worker, service.rule_threads_count]
    assert_match(/Too many threads: 5 in a worker where 3 are enough/, service.advice.first)
    assert_operator service.saved_bytes, :>, 0
  end

  test "two periods of one group are compared, each at its own time" do
    comparison = compare(a: '{yjit="on"}', ends: [NOW_S - 7 * 86_400, NOW_S])
    assert_in_delta 1.0, comparison.row("p99").ratio.value, 1e-9
    refute_equal comparison.a.ends_at, comparison.b.ends_at
  end

  test "the same group at the same time is a mistake" do
    assert_match(/both groups are the same/, assert_raises(PumaTuner::UsageError) { compare(b: '{yjit="off"}') }.message)
  end

  test "two periods that overlap are a mistake, which tells the longest window" do
    message = assert_raises(PumaTuner::UsageError) { compare(a: '{yjit="on"}', ends: [NOW_S - 6 * 3_600, NOW_S]) }.message
    assert_match(/the two periods overlap by .*a --window of 360m at most/, message)
    assert_equal "raw", compare(a: '{yjit="on"}', ends: [NOW_S - 6 * 3_600, NOW_S], duration_s: 6 * 3_600).source
  end

  test "a label that only the servers have, and no figure, is told apart from one that nobody has" do
    info_alone = {%r{\Alabel/ruby/} => ->(request) { request.parameters["match[]"].include?("exporter_info") ? ["3.4.5"] : [] },
                  /exporter_info\{ruby/ => ->(_) { vector([{schema: "1", complete: "true"}, 4]) }}
    assert_match(/--a .*figures have no label ruby, puma_tuner_exporter_info alone has it/, assert_raises(InvalidMeasurement) { compare(info_alone, a: '{ruby!="3.3.8"}') }.message)
    nobody = {/exporter_info\{servcie/ => ->(_) { vector([{schema: "1", complete: "true"}, 4]) }}
    assert_match(/--b .*no server has a label servcie/, assert_raises(InvalidMeasurement) { compare(nobody, b: '{servcie!="shop"}') }.message)
    assert_match(/--services .*no server has a label team/, assert_raises(InvalidMeasurement) { compare(all: Selector.parse('{team!="x"}')) }.message)
  end

  test "rules are not taken for labels that they have added up" do
    found = {/\Aquery count\(count_over_time/ => ->(_) { vector([{}, 1]) }, /\Aquery count by.*exporter_info\{yjit=.*pod/ => ->(_) { vector([{schema: "1", complete: "true"}, 4]) },
             %r{\Alabel/pod/} => ->(request) { request.parameters["match[]"].start_with?("fleet:") ? [] : %w[canary-1 web-1] }}
    words = {a: '{yjit="off",pod!~"canary-.*"}', b: '{yjit="on",pod!~"canary-.*"}'}
    assert_equal "raw", compare(found, source: "auto", **words).source
    known = {/\Aquery count by \(schema, complete\).*fleet:puma_tuner_servers/ => ->(_) { vector([{schema: "1", complete: "true"}, 1]) }}
    assert_match(/recorded no label pod in .*: --source raw/, assert_raises(InvalidMeasurement) { compare(found.merge(known), source: "rules", **words) }.message)
  end

  test "one sample in a span shows no increase, and is not taken for no requests" do
    once = with_values(/max\(count_over_time/) { |series| series.merge(values: series[:values].map { |time, _| [time, "1"] }) }
    assert_match(/scraped less than twice in a span of 900 s.*--step, such as 5m/, assert_raises(InvalidMeasurement) { compare(once) }.message)
  end

  test "spans without samples are left out and counted, and are no zero" do
    gone = with_values(/count_over_time.*"off"/) { |series| series.merge(values: series[:values].each_with_index.reject { |_, index| index.between?(10, 19) }.map(&:first)) }
    comparison = compare(gone)
    assert_includes comparison.warnings, "a: 10 of 96 spans without any sample, left out."
    assert_equal [86, 86], [comparison.a.compared_count, comparison.b.compared_count]
    assert_equal 96, comparison.b.usable_count
  end

  test "spans with gaps are left out" do
    thin = with_values(/count_over_time.*"on"/) { |series| series.merge(values: series[:values].each_with_index.map { |(time, _), index| [time, (index < 5) ? "2" : "4"] }) }
    assert_includes compare(thin).warnings, "b: 5 of 96 spans with gaps (samples of less than 90% of the time), left out."
  end

  test "a span in which each server was replaced, and so had half of its samples, is used like any other" do
    replaced = with_values(/max\(count_over_time.*"on"/) { |series| series.merge(values: series[:values].each_with_index.map { |(time, _), index| [time, (index < 5) ? "30" : "60"] }) }
    comparison = compare(replaced)
    assert_empty comparison.warnings
    assert_equal 96, comparison.b.usable_count
  end

  test "endpoints that the scraper has renamed are refused, with what brings them back" do
    renamed = {%r{\Alabel/exported_endpoint/} => ->(request) { request.parameters["match[]"].match?(/endpoint_request_duration\w+\{yjit="on"/) ? ["GET /a"] : [] }}
    assert_match(/--b \{yjit="on"\}: the label endpoint names the scraped port.*honorLabels: true/, assert_raises(InvalidMeasurement) { compare(renamed) }.message)
  end

  test "servers that were lost for a while are told" do
    lost = with_values(/avg_over_time\(\(count \(puma_tuner_exporter_info\{yjit="off"/) { |series| series.merge(values: series[:values].each_with_index.map { |(time, _), index| [time, (index < 7) ? "1" : "9"] }) }
    assert_includes compare(lost).warnings, "a: in 7 of 96 spans fewer than half of the usual 9 servers reported: scaled down, or lost. Sums over servers count what there was."
  end

  test "counters that began anew are told" do
    resets = with_values(/resets.*"on"/) { |series| series.merge(values: series[:values].first(3).map { |time, _| [time, "1"] }) }
    comparison = compare(resets)
    assert_equal [0, 3], [comparison.a.restarts_count, comparison.b.restarts_count]
    assert(comparison.warnings.any? { |text| text.start_with?("b: servers restarted 3 times") })
  end

  test "a histogram whose counts fall is refused" do
    falling = with_values(/\Aquery_range sum by \(le\).*"off"/) { |series| (series[:metric][:le] == "0.05") ? series.merge(values: series[:values].map { |time, value| [time, (value.to_f / 2).to_s] }) : series }
    assert_match(/counts fall/, assert_raises(InvalidMeasurement) { compare(falling) }.message)
  end

  test "labels that were dropped on the way are told" do
    dropped = with_values(/\Aquery_range sum by \(part\).*"on"/) { |series| series.merge(metric: {}) }
    assert_match(/without their label part/, assert_raises(InvalidMeasurement) { compare(dropped) }.message)
  end

  test "a figure that is no number anywhere is not there" do
    nothing = with_values(/pss_bytes\{yjit="on"/) { |series| series.merge(values: series[:values].map { |time, _| [time, "NaN"] }) }
    assert_nil compare(nothing).row("memory").b
  end

  test "another version of the metrics is refused, and mixed ones" do
    other = {/exporter_info\{yjit="off"/ => ->(_) { vector([{schema: "2"}, 4]) }}
    assert_match(/--a \{yjit="off"\}: another version of the exporter wrote it: schema 2, this one reads 1/, assert_raises(InvalidMeasurement) { compare(other) }.message)
    mixed = {/exporter_info\{yjit="on"/ => ->(_) { vector([{schema: "1"}, 4], [{schema: "2"}, 4]) }}
    assert_match(/--b .*schemas 1, 2/, assert_raises(InvalidMeasurement) { compare(mixed) }.message)
    foreign = {/exporter_info\{yjit="on"/ => ->(_) { vector([{}, 4]) }}
    assert_match(/no schema/, assert_raises(InvalidMeasurement) { compare(foreign) }.message)
  end

  test "labels that nobody has are told apart from values, and from no metrics at all" do
    assert_match(/there, yjit is "off", "on"/, assert_raises(InvalidMeasurement) { compare(a: '{yjit="maybe"}') }.message)
    assert_match(/no server has a label team/, assert_raises(InvalidMeasurement) { compare(a: '{team="x"}') }.message)
    nothing = {/\Aquery .*exporter_info/ => ->(_) { vector }}
    assert_match(/Prometheus has no metric puma_tuner_exporter_info in .*Is the exporter scraped/, assert_raises(InvalidMeasurement) { compare(nothing) }.message)
  end

  test "servers with less than everything, and with wrong clocks, are told" do
    partial = {/\Aquery count by.*exporter_info\{yjit="off"/ => ->(_) { vector([{schema: "1", complete: "false"}, 1], [{schema: "1", complete: "true"}, 3]) },
               /timestamp.*"on"/ => ->(_) { vector([{}, 95.2]) }}
    warnings = compare(partial).warnings
    assert_includes warnings, "a: some servers run without the extension, and know no GVL wait, IO and locks; so these are unknown of the group."
    assert_includes warnings, "b: a server's clock is 95.2 s off Prometheus'. Figures here don't depend on it, logs do."
  end

  test "of a group with servers that know less than everything, no sum lacks what these had" do
    comparison = compare({/\Aquery count by \(schema.*exporter_info\{yjit="off"/ => ->(_) { vector([{schema: "1", complete: "false"}, 1], [{schema: "1", complete: "true"}, 3]) }})
    row = comparison.row("gvl_wait_per_request")
    assert_equal [nil, nil, nil], [row.a, row.ratio, row.outcome]
    assert_operator row.b, :>, 0
    assert_operator comparison.row("queue_per_request").a, :>, 0
  end

  test "of a service with such servers nothing is said that rests on what they don't tell" do
    service = compare({/\Aquery count by \(service\).*exporter_info\{complete="false"\}/ => ->(_) { vector([{service: "shop"}, 1]) }}).services.first
    assert_equal ["shop", {}, nil, nil, nil], [service.name, service.parts, service.rule_threads_count, service.needed_workers_count, service.saved_bytes]
    assert_equal [ServiceReader::INCOMPLETE], service.advice
    assert_operator service.peak_per_s, :>, 0
  end

  test "where this machine's clock is wrong, Prometheus' is taken" do
    comparison = compare(date: Time.now - 7_200, ends: [nil, nil])
    assert_match(/clock is 2\.00 s|clock is 72\d\d s ahead of Prometheus'/, comparison.warnings.first)
    assert_in_delta Time.now.to_f - 7_200, Time.iso8601(comparison.b.ends_at).to_f, 1_000
  end

  test "a response that is partial by its own word is told" do
    warned = {/process_cpu/ => ->(request) { [200, JSON.generate({status: "success", warnings: ["store 10.0.0.7 unavailable"], data: {resultType: "matrix", result: SimulatedAnswers.range(request, request.parameters["query"])}})] }}
    assert_includes compare(warned).warnings, "Prometheus says that its response is partial: store 10.0.0.7 unavailable"
    marked = {/process_cpu/ => ->(request) { [200, JSON.generate({status: "success", isPartial: true, data: {resultType: "matrix", result: SimulatedAnswers.range(request, request.parameters["query"])}})] }}
    assert_includes compare(marked).warnings, "Prometheus says that its response is partial: some of its storage did not answer (isPartial)"
  end

  test "rules are taken where they reach back over the window, and by name only there" do
    found = {/\Aquery count\(count_over_time/ => ->(_) { vector([{}, 1]) }}
    known = {/\Aquery count by \(schema, complete\).*fleet:puma_tuner_servers/ => ->(_) { vector([{schema: "1", complete: "true"}, 1]) }}
    comparison = compare(found.merge(known), source: "auto")
    assert_equal "rules", comparison.source
    assert_includes comparison.unknown, PumaTuner::Unknown.of(:restarts, :added_up_by_rules)
    assert(@fake.requests.any? { |request| request.parameters["query"] =~ /sum_over_time\(\(sum by \(le\) \(fleet:puma_tuner_request_duration_seconds_bucket:rate5m\{yjit="on"\}\)\)\[899999ms:75s\]\) \* 75/ })
    assert_equal "raw", compare(source: "auto").source
  end

  test "a window that is too short gives figures without intervals" do
    comparison = compare(duration_s: 2 * 60)
    assert_in_delta 100_000_000, comparison.row("p99").a, 1
    assert_nil comparison.row("p99").ratio
    assert_equal [:not_shown, :few_blocks], [comparison.row("p99").outcome, comparison.row("p99").reason]
    assert_includes comparison.unknown, PumaTuner::Unknown.of(:intervals, :few_blocks, blocks_count: 1, needed_count: 4)
  end
end
