# frozen_string_literal: true

require "test_helper"
require "support/advice_fixture"
require_relative "golden"

# How advice looks: with lines to set, a proof to run and a tail; beside what proofs showed; and each way in which the
# recommendation can go. How it looks in a browser is in browser/advice_test.rb.
class ReportAdvicePageTest < TunerTest
  include Golden
  include PumaTuner

  def list = AdviceFixture.with_lines

  # @return [String] what a page has on advice, a tag a line: the same whatever stands above and below
  def on_advice(html)
    sections = html.scan(%r{<section id="advice">.*?</section>|<h3 id="advice-checks">.*?(?=<h3)}m)
    sections.join("\n").gsub(%r{(?<=>)(?=<(?:article|h3|dl|div|ul|li|table|tr|p|pre)\b)}, "\n") << "\n"
  end

  test "in a terminal" do
    assert_golden "advice_with_lines.txt", Report.render(list, format: :text)
  end

  test "in a summary" do
    assert_golden "advice_with_lines.md", Report.render(list, format: :markdown)
  end

  test "the lines of workers and threads stand there, where they change anything" do
    lines = {"config/puma.rb" => "workers 2\nthreads 3, 3", "config/database.yml" => "max_connections: 3"}
    told = ->(advice) { Report.render(Advise::AdviceList.new(advice: [advice.with(lines:)], today: Topology.parse("1x5")), format: :text) }
    go = told.call(TuningFixture.go)
    lines.values.flat_map(&:lines).each { |line| assert_includes go, line.chomp }
    assert_includes go, "Where the file has `pool:` instead, keep that name: Rails does not start with both."
    refute_match(/threads 3, 3|max_connections/, told.call(AdviceFixture.titles.fetch(:stay)))
  end

  test "on a page lines stand as they are to be typed" do
    html = Report.render(list, format: :html)
    assert_includes html[/<article class="remark">.*?<.article>/m], "<p><code>config/puma.rb</code></p><pre>preload_app!\nbefore_worker_boot do\n  CACHE.reconnect\nend\n</pre>"
    prove = %(<code>puma_tuner prove <span class="together">--variant</span> today: <span class="together">--variant</span> advised:env.RUBY_THREAD_TIMESLICE=10</code>)
    assert_includes html[/<article.*<.article>/m], prove
  end

  test "beside each advice stands what earlier proofs showed, and below them what is left out for it" do
    assert_golden "advice_with_experience.txt", Report.render(AdviceFixture.with_experience, format: :text)
    assert_golden "advice_with_experience.md", Report.render(AdviceFixture.with_experience, format: :markdown)
    assert_golden "advice_with_experience.html", on_advice(Report.render(AdviceFixture.with_experience, format: :html))
  end

  test "advice that was measured has a table of its own, before the proof" do
    text, summary, html = %i[text markdown html].map { |format| Report.render(AdviceFixture.proven, format:) }
    assert_golden "advice_proven.txt", text[/^Each advice against today.*?(?=^Proof: )/m]
    assert_golden "advice_proven.md", summary[%r{^<details><summary>Each advice.*?</details>\n}m]
    assert_golden "advice_proven.html", on_advice(html)[/<h3 id="advice-checks">.*/m]
  end

  test "each way in which a recommendation can go has its words, and a title that says so" do
    told = AdviceFixture.titles.map do |kind, advice|
      alone = Advise::AdviceList.new(advice: [advice], today: Topology.parse("1x5"))
      "#{kind}\n#{"=" * kind.length}\n\n#{Report.render(alone, format: :text)}"
    end
    assert_golden "advice_titles.txt", told.join("\n\n")
  end

  test "advice on its own knows today's setting: to stay promises nothing, and a steady state is one that today's has not" do
    list = ->(kind, **fields) { Advise::AdviceList.new(advice: [AdviceFixture.titles.fetch(kind)], **fields) }
    today = {today: Topology.parse("1x5")}
    stay = Report.render(list.call(:stay, **today), format: :text)
    assert_match(/\AIn short: Stay with 1x5\n/, stay)
    refute_match(/predicted {2}|1\.000x/i, stay)
    assert_match(/Predicted +A steady state, which 1x5 has not\./, Report.render(list.call(:go_to_steady, **today), format: :text))
    # As older files are.
    assert_match(/Predicted +A steady state, which today's setting has not\./, Report.render(list.call(:go_to_steady), format: :text))
  end

  test "what is to be typed is code, in a page and in a summary; what looks like it in a name of the app's is no markup" do
    nasty = AdviceFixture.time_slice.then do |advice|
      advice.with(evidence: [PumaTuner::Statement.of(:told, text: "GET /`<img src=x>` and `@everyone\n<b>`")])
    end
    list = Advise::AdviceList.new(advice: [nasty])
    assert_includes Report.render(AdviceFixture.with_experience, format: :markdown), "(`puma_tuner advise --forget` drops it)"
    summary = Report.render(list, format: :markdown)
    assert_includes summary, "&lt;img src=x&gt;"
    assert_includes summary, "@\u200beveryone"
    refute_match(/<img|<b>|@everyone/, summary)
    page = Report.render(list, format: :html)
    refute_match(/<img|<b>/, page[%r{<section id="advice">.*?</section>}m])
  end
end
