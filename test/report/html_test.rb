# frozen_string_literal: true

require "test_helper"
require "digest"
require "json"
require_relative "proof_fixture"

class ReportHtmlTest < TunerTest
  TEMPLATES = Dir[File.expand_path("../../lib/puma_tuner/report/html/*.html.erb", __dir__)]

  # Elements without an end, in HTML and in the SVG here.
  VOID = %w[meta link br].freeze

  NASTY = %(GET /"><script>alert(1)</script><img src=x onerror='alert(2)'>)

  def assert_harmless(page)
    assert_equal 2, page.scan(/<script\b/).size, "more scripts than the document and our own"
    refute_match(/<img|<script>alert/, page)
    assert_includes page, "&lt;script&gt;alert(1)&lt;/script&gt;"
    assert_empty unbalanced(page)
  end

  def html(value = TuningFixture.tuning) = PumaTuner::Report.render(value, format: :html)

  # Without the embedded document, the script and the style.
  def markup(page) = page.gsub(%r{<(script|style)\b[^>]*>.*?</\1>}m, "<\\1></\\1>")

  def embedded(page) = page[%r{<script type="application/json" id="puma_tuner-document">(.*?)</script>}m, 1]

  # @return [Array<String>] what is opened and not closed, or closed and not open
  def unbalanced(page)
    open = []
    markup(page).scan(%r{<(/?)([a-z][a-z0-9]*)[^>]*?(/?)>}i) do |closing, name, self_closing|
      next if VOID.include?(name) || self_closing == "/"
      next open << name if closing.empty?
      return ["</#{name}> in #{open.last(3).join(" ")}"] unless open.pop == name
    end
    open
  end

  def values
    {
      tuning: TuningFixture.tuning, without_verdict: TuningFixture.tuning(verdict: nil), cluster: TuningFixture.cluster_observation,
      stay: TuningFixture.tuning(advice_list: TuningFixture.advice_list(recommended: "1x5"), verdict: TuningFixture.verdict_of_the_same),
      sweep: TuningFixture.sweep, wide_sweep: TuningFixture.wide_sweep, wide_tuning: TuningFixture.tuning(sweep: TuningFixture.wide_sweep),
      one_topology: TuningFixture.sweep(workers: 1..1, threads: 5..5, loads: [TuningFixture.closed, PumaTuner::Model::Arrivals.open(100)]),
      unsteady: TuningFixture.sweep(loads: [PumaTuner::Model::Arrivals.open(2_000)]), large_sweep: TuningFixture.sweep(workers: 1..6, threads: 1..12), verdict: TuningFixture.verdict,
      advice: TuningFixture.advice_list, no_advice: PumaTuner::Advise::AdviceList.new(advice: []),
      no_pairs: TuningFixture.verdict.with(comparisons: [], trials: []), gems: ProofFixture.gems, blocks: ProofFixture.blocks,
      one_variant: TuningFixture.verdict.then { |verdict| verdict.with(cells: verdict.cells.first(1), comparisons: [], trials: []) },
      factorial: ProofFixture.factorial,
      without_extension: TuningFixture.observation_without_extension, jobs_only: TuningFixture.jobs_observation,
      nothing_seen: TuningFixture.observation.with(threads: [], endpoints: [], jobs: [], background: [], budget: PumaTuner::Probe::Budget.zero)
    }
  end

  test "every element is closed, whatever is shown" do
    values.each { |name, value| assert_empty unbalanced(html(value)), name }
  end

  test "all charts of a tuning are there, each with a line on how to read it" do
    page = markup(html)
    %w[endpoint-budgets latencies job-budgets gvl-holders thread-budgets background heat-map-throughput heat-map-p99 simulated-budgets ratios rounds].each do |id|
      figure = page[%r{<figure id="#{id}">.*?</figure>}m]
      assert figure, "no figure #{id}"
      assert_match(%r{<figcaption>How to read it: .{80,}</figcaption>}m, figure)
    end
  end

  test "a part that is not there is left out, and nothing else" do
    assert_includes html, 'id="proof"'
    page = html(TuningFixture.tuning(verdict: nil))
    refute_includes page, 'id="proof"'
    refute_includes page, "below the prediction"
    assert_includes page, "predicted (middle and range of the simulations)"
  end

  test "a bar's segments fill it from its beginning to its end" do
    markup(html).sub(/<section id="forecasts">.*?<\/section>/m, "").scan(%r{<td class="bar">.*?</td>}m).each do |bar|
      rects = bar.scan(/<rect class="part-\w+" x="([\d.]+)%" width="([\d.]+)%"/).map { |pair| pair.map(&:to_f) }
      assert_in_delta 0, rects.first.first, 0.02
      rects.each_cons(2) { |(x, width), (following, _)| assert_in_delta x + width, following, 0.02 }
      assert_in_delta 100, rects.last.sum, 0.2
    end
  end

  test "an endpoint's io tells what it was for, in its bar and in the numbers" do
    page = html
    assert_includes page, "io 23.1% (db 15.3 ms, redis 1.76 ms): waits for"
    assert_match(/aria-label="POST \/orders: [^"]*io 18.8% \(http 13.1 ms, db 7.17 ms\)/, page)
    ["db in io", "redis in io", "http in io"].each { |heading| assert_includes page, ">#{heading}</th>" }
    refute_includes html(TuningFixture.observation_without_extension), " in io<"
  end

  test "parts that claim too much are drawn in proportion" do
    rows = [["GET /", 10, 50.0, 1.0, 2.0, {cpu: 0.9, io: 0.6}]]
    rects = html(TuningFixture.observation(endpoint_rows: rows, jobs: [], threads: [])).scan(/<rect class="part-\w+" x="([\d.]+)%" width="([\d.]+)%"/)
    assert_equal [["0.0", "60.0"], ["60.0", "40.0"]], rects
  end

  test "today's, the recommended and the measured cells are marked in the heat maps" do
    page = markup(html)
    assert_match(%r{<td style="--heat:[\d.]+" class="today" title="1x5: 247 \(244–250\) predicted, 251 \(248–254\) measured">247}, page)
    assert_match(%r{class="recommended" title="2x3: 415 [^"]+ measured">415\s*<small class="mark">recommended</small><small class="measured">413 measured</small>}m, page)
    assert_equal 2, page.scan("<small>rule of thumb</small>").size
  end

  test "each load has its own maps, bars and tables, all ids are different, and only the first of a metric tells how to read it" do
    page = markup(html(TuningFixture.wide_sweep))
    ids = page.scan(/ id="([\w-]+)"/).flatten
    assert_equal ids.uniq, ids
    %w[heat-map-throughput heat-map-p99 simulated-budgets heat-map-p99-2 simulated-budgets-2 heat-map-p99-3 simulated-budgets-3]
      .then { |wanted| assert_equal wanted, ids.grep(/heat-map|simulated/) }
    assert_equal 3, page.scan("How to read it").size
    assert_match(%r{<h3 class="load">With 20 connections <small class="mark">as recorded</small></h3>}, page)
    assert_includes page, '<h3 class="load">With 300 requests/s (bursty, 4 at a time)</h3>'
  end

  test "a setting without a steady state has no numbers, and its reason stands below" do
    page = markup(html(TuningFixture.wide_sweep))
    assert_match(%r{class="unsteady today" title="1x5: 300 requests/s arrive and at most 247/s can be served: the queue grows without bound">no steady state}, page)
    row = page.scan(%r{<tr class="today">.*?</tr>}m).last
    assert_match(%r{<td class="number unsteady" title="[^"]+">no steady state</td>(<td( class="number")?></td>){9}\s*</tr>}, row)
    assert_includes page, "No steady state: 1x1: 300 requests/s arrive and at most 96.4/s can be served: the queue grows without bound."
  end

  test "neither bars nor formulas are shown without any steady state" do
    page = markup(html(TuningFixture.sweep(loads: [PumaTuner::Model::Arrivals.open(2_000)])))
    refute_match(/simulated-budgets|class="bar"|Amdahl/, page)
    assert_equal 16 * 2, page.scan(">no steady state").size
  end

  test "a table right below another says what it is of" do
    forecasts = markup(html)[%r{<section id="forecasts">.*?</section>}m]
    seconds = forecasts.scan(%r{</table></div><div class="wide"><table[^>]*>(<\w+>[^<]*)}).flatten
    assert_includes seconds, "<caption>Where the mean simulated request&#39;s time goes, in ms"
    seconds.each { |start| assert_operator start, :start_with?, "<caption>" }
  end

  test "paper has the names of what is folded on a screen" do
    style = html[%r{<style>(.*?)</style>}m, 1]
    refute_match(/summary\s*\{[^}]*display:\s*none/, style[/@media print.*/m])
  end

  test "the simulated budgets of a load are drawn to one scale, and the longest fills it" do
    bars = markup(html)[%r{<figure id="simulated-budgets">.*?</figure>}m].scan(%r{<td class="bar">.*?</td>}m)
    ends = bars.map { |bar| bar.scan(/<rect class="part-\w+" x="([\d.]+)%" width="([\d.]+)%"/).map { |pair| pair.sum(&:to_f) }.max }
    assert_equal 16, ends.size
    assert_in_delta 100, ends.first, 0.2
    assert_in_delta 100 * 96.4 / 168, ends[1], 0.3
  end

  test "budgets too different for one scale are drawn as shares of their time" do
    forecasts = [TuningFixture.forecast(1, 5), TuningFixture.forecast(2, 5, arrivals: TuningFixture.closed(900))]
    sweep = TuningFixture.sweep.with(forecasts: forecasts.map { |forecast| forecast.with(scenario: forecast.scenario.with(arrivals: TuningFixture.closed)) })
    assert_includes markup(html(sweep)), '<th scope="col">share of the time</th>'
  end

  test "a model that misses its own recording is reported before all else, and marked" do
    [TuningFixture.tuning_without_trust, TuningFixture.sweep.with(self_check: TuningFixture.self_check)].each do |value|
      page = markup(html(value))
      assert_match(%r{<dl class="summary">\s*<div class="beware"><dt>Beware</dt><dd>The model does not reproduce the recording at 1x8}, page)
      assert_empty unbalanced(page)
    end
    refute_includes markup(html), "Beware"
  end

  test "the wait for the GVL has its interval" do
    assert_includes markup(html), "7.60 (6.99–8.21)"
  end

  test "what is assumed stands above the forecasts, and how far earlier ones missed below" do
    page = markup(html(TuningFixture.wide_sweep))
    assert_match(%r{<p class="assumed">Assumed, and not measured: cpu\(GET /articles\)\*0.7.</p>.*heat-map-throughput.*missed by about 3% in throughput and 6% in p99 \(12 checks\)}m, page)
  end

  test "the machine as modelled tells its cores, the recorded time slice, and whether its figures are its own" do
    assert_includes html, "1.96 cores&#39; worth of work for the server, GVL time slice 100 ms,"
    assert_includes html, "typical figures, not measured here"
    calibrated = PumaTuner::Model::Calibrated.new(calibrated_at: "2026-03-01", machine_key: "k", ruby_version: "3.4.5", puma_version: "8.0.2", round_trip_ns: 1)
    assert_includes html(TuningFixture.tuning(machine: TuningFixture.machine.with(calibrated:))), "measured here on 2026-03-01"
  end

  test "a void round is drawn apart, with its reason" do
    page = markup(html)
    assert_equal 7, page.scan('<tr class="round').size
    assert_match(%r{<tr class="round void">.*?<title>void: 2 of 1552 responses had an unexpected status \(500: 2\)</title>}m, page)
  end

  test "a proof on its own tells what it found in its title, and shows its charts with a line on how to read each" do
    page = markup(html(ProofFixture.gems))
    assert_includes page, "<h1>json 2.8.1 is better than json 2.7.2 in requests/s</h1>"
    ids = %w[ratios rounds memory warm-up cause]
    assert_equal ids, page.scan(/<figure id="([\w-]+)">/).flatten
    ids.each { |id| assert_match(%r{<figcaption>How to read it: .{80,}</figcaption>}m, page[%r{<figure id="#{id}">.*?</figure>}m]) }
    pictures = page.scan(%r{<svg [^>]*role="img"[^>]*>(?:<title>)?[^<]*})
    assert_operator pictures.size, :>, 20
    pictures.each { |svg| assert_match(/aria-label="[^"]{20,}"|<title>.{6,}/, svg) }
  end

  test "the primary metric is marked, in the table and in the chart of rounds" do
    page = markup(html(ProofFixture.blocks))
    assert_match(%r{<tr class="primary">\s*<th scope="row">iterations/s\s*<small class="mark">primary</small></th>}, page)
    assert_includes page, 'aria-label="iterations/s of every trial, a line for each round"'
    refute_match(/requests served|per request|mean request/, page[%r{<section id="proof">.*?</section>}m])
  end

  test "both budgets are drawn to one scale" do
    bars = markup(html(ProofFixture.gems))[%r{<figure id="cause">.*?</figure>}m].scan(%r{<td class="bar">.*?</td>}m)
    ends = bars.map { |bar| bar.scan(/<rect class="part-\w+" x="([\d.]+)%" width="([\d.]+)%"/).map { |pair| pair.sum(&:to_f) }.max }
    assert_in_delta 100, ends.first, 0.2
    assert_in_delta 100 * 4_640 / 5_300.0, ends.last, 0.2
  end

  test "facts of what ran are shown where they differ, and folded where they do not" do
    page = markup(html(ProofFixture.gems))
    assert_match(%r{<th scope="row">gem json</th>\s*<td>2.7.2</td>\s*<td>2.8.1</td>}, page)
    assert_match(%r{<details>\s*<summary>14 facts that are the same in all variants</summary>}, page)
    refute_includes page, "14 other facts", "its title says so"
    refute_match(%r{<dt>gem json</dt>}, page)
    cells = ProofFixture.gems.cells.each_with_index.map { |cell, index| index.zero? ? cell : cell.with(fingerprint: cell.fingerprint.merge([:gem, "bigdecimal"] => "3.1.8")) }
    assert_match(%r{<th scope="row">gem bigdecimal</th>\s*<td>-</td>\s*<td>3.1.8</td>}, html(ProofFixture.gems(cells:)))
  end

  test "each trial is a line in the curves of memory and warm-up, but no void one" do
    page = markup(html(ProofFixture.gems))
    %w[memory warm-up].each do |id|
      assert_equal 24, page[%r{<figure id="#{id}">.*?</figure>}m].scan(/<path class="curve curve-\d" d="M[\d.]+ [\d.]+L/).size
    end
  end

  test "the page of a proof leaves out the fingerprints of the trials, which are those of the variants" do
    document = PumaTuner::Document.parse(embedded(html(ProofFixture.gems)), "report", [:verdict])
    assert_equal ProofFixture.gems.cells, document.cells
    assert_equal [{}], document.trials.map(&:fingerprint).uniq
    assert_operator html(ProofFixture.gems).bytesize, :<, 150_000
  end

  test "names from the app cannot become markup" do
    observation = TuningFixture.observation(endpoint_rows: [[NASTY, *TuningFixture::ENDPOINTS.first.drop(1)]])
    advice = PumaTuner::Statement.of(:told, text: NASTY).then { |said| TuningFixture.remark.with(title: said, evidence: [said], change: said, cost: said, undo: said) }
    tuning = TuningFixture.tuning(observation: observation.with(command: NASTY, unknown: [PumaTuner::Unknown.of(:metric, :failed, whose: NASTY, detail: NASTY)]), command: NASTY,
      advice_list: PumaTuner::Advise::AdviceList.new(advice: [TuningFixture.go, advice]), verdict: TuningFixture.verdict(other: NASTY))
    assert_harmless html(tuning)
    assert_equal NASTY, JSON.parse(embedded(html(tuning))).dig("observation", "endpoints", 0, "name")
  end

  test "nothing that a proof was given or has read can become markup" do
    assert_harmless html(ProofFixture.nasty(NASTY))
    assert_equal NASTY, JSON.parse(embedded(html(ProofFixture.nasty(NASTY)))).fetch("baseline")
  end

  test "every output tag of the templates escapes, or renders what does" do
    safe = /\A(?:h[ (]|prose |\w+_html\b|stylesheet\b|script\b|embedded_document\b|"[^"#<]*"(?: if |\z)|' class="[\w-]+"' if |[\w.? ]+ \? "[^"#<]*" : "[^"#<]*"\z|yield\z)/
    TEMPLATES.each do |path|
      File.read(path, encoding: "UTF-8").scan(/<%=(.*?)-?%>/m).flatten.each { |code| assert_match safe, code.strip, File.basename(path) }
    end
    refute_empty TEMPLATES
  end

  test "a page without a title has that of the first part that says something" do
    assert_includes html(TuningFixture.sweep), "<h1>What other settings would do</h1>"
  end

  test "nothing is fetched from anywhere" do
    values.each_value do |value|
      page = html(value)
      refute_match(/\b(?:src|srcset|action|poster)\s*=/i, page)
      assert_equal ["data:,"], page.scan(/\bhref\s*=\s*"([^"]*)"/i).flatten
      refute_match(%r{url\(|@import|https?://|//\w+\.\w+/}, page.sub(embedded(page), ""))
      refute_match(/\bfetch\(|XMLHttpRequest|WebSocket|\bimport\b/, page[%r{<script>(.*?)</script>}m, 1])
    end
  end

  test "the page's own policy allows our script only" do
    script = html[%r{<script>(.*?)</script>}m, 1]
    policy = html[/Content-Security-Policy" content="([^"]+)"/, 1].gsub("&#39;", "'")
    assert_equal "default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-#{Digest::SHA256.base64digest(script)}'", policy
  end

  test "the document is inside, without the recorded requests" do
    json = embedded(html)
    refute_includes json, "<"
    document = PumaTuner::Document.parse(json, "report", [:tuning])
    assert_equal TuningFixture.sweep, document.sweep
    assert_equal TuningFixture.verdict, document.verdict
    assert_empty document.observation.endpoints.flat_map(&:traces)
    assert_empty document.workload.endpoints.flat_map(&:demands)
    assert_match(/the recorded requests and the spread of each part are left out/, html)
  end

  test "a report stays small, even of a large app" do
    rows = (1..60).map { |number| ["GET /a/rather/long/route/#{number}", 2_000, *TuningFixture::ENDPOINTS.first.drop(2)] }
    large = TuningFixture.tuning(sweep: TuningFixture.sweep(workers: 1..4, threads: 1..16),
      observation: TuningFixture.observation(endpoint_rows: rows, threads: TuningFixture.threads((0..7).to_a, 8)))
    assert_operator html.bytesize, :<, 210_000
    assert_operator html(large).bytesize, :<, 640_000
  end

  test "threads too many for a bar each are added up by worker" do
    page = html(TuningFixture.observation(threads: TuningFixture.threads((0..7).to_a, 8)))
    assert_includes page, "worker 7, 8 threads"
    assert_equal 8, page[%r{<figure id="thread-budgets">.*?</figure>}m].scan('class="bar"').size
  end

  test "holders of the GVL are a matrix with shaded cells, with all of them together last" do
    figure = markup(html)[%r{<figure id="gvl-holders">.*?</figure>}m]
    assert_equal 8, figure.scan('<tr class="waiter').size
    assert_match(%r{<tr class="waiter all">\s*<th scope="row">all</th>}, figure)
    assert_match(%r{<td style="--heat:1.0" title="GET /articles held it for 17.7 ms \(40.7%\) of the 43.5 ms that GET /search waited">40.7</td>}, figure)
  end

  test "who held the GVL has one heading" do
    assert_equal 1, markup(html).scan(%r{<h3[^>]*>[^<]*while others waited[^<]*</h3>}).size
  end

  test "where nearly nobody waits for the GVL, nothing is said of who held it" do
    rows = [["GET /", 10, 50.0, 1.0, 2.0, {cpu: 0.9, gvl_wait: 0.004}]]
    refute_includes html(TuningFixture.observation(endpoint_rows: rows, jobs: [])), 'id="gvl-holders"'
  end

  test "the numbers tell what parts were made of only where there is something to tell" do
    assert_match(/pool in lock.*gc in gvlwait.*before Puma ms/m, html)
    health = TuningFixture.observation_without_extension.endpoints.last(1)
    refute_match(/pool in lock|gc in gvlwait|before Puma ms/, html(TuningFixture.observation_without_extension.with(endpoints: health)))
  end

  test "parts that nobody could tell apart are called unknown" do
    assert_includes html(TuningFixture.cluster_observation), "unknown: queue and gc"
  end

  test "unknown fields stand there with their reasons" do
    assert_match(%r{<dt>unknown</dt><dd><ul><li>endpoints.budget.queue_ns: a middleware is called after it</li>}, html(TuningFixture.cluster_observation))
  end
end
