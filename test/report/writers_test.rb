# frozen_string_literal: true

require "test_helper"
require "json"
require "cgi"
require "support/profiles"
require "support/tradeoffs"
require_relative "compare_fixture"
require_relative "fleet_fixture"
require_relative "proof_fixture"

# Blocks, and what each writer makes of them.
class ReportWritersTest < TunerTest
  include PumaTuner
  include PumaTuner::Report::Blocks

  Words = PumaTuner::Report::Words

  COLUMNS = [Column.new("name"), Column.new("took", :duration), Column.new("share", :share), Column.new("max", :duration, page: true)].freeze

  def page(*blocks, brief: :always, open: true, whole: false, **fields)
    section = Section.new(id: "s", title: "A section", blocks:, brief:, open:)
    Page.new(title: "Title", parts: [Part.new("p", "A question", [section])], whole:, **fields)
  end

  def table(count, **) = Table.new(COLUMNS, (1..count).map { |index| Row.new(["row #{index}", index * 1_000_000, 0.5, 3_000_000]) }, **)

  def text(page, **) = PumaTuner::Report::Writers::Text.new(**).call(page)

  def markdown(page) = PumaTuner::Report::Writers::Markdown.new.call(page)

  def html(page) = PumaTuner::Report::Writers::Html.new(TuningFixture.advice_list).call(page)[%r{<main>.*</main>}m]

  # One of each.
  SAMPLES = [
    Paragraph.new("a paragraph"), Note.new("a note"), Subheading.new("a subheading", mark: "marked"), Labelled.new({"label" => ["one", Code.new("two")]}), List.new(["an item"]), Snippet.new("a file", "lines\n  to set"),
    Lines.new(entries: [["line 1", "  line 2"]]), Article.new("an article", [Note.new("inside")], style: :advice), Table.new(COLUMNS, [Row.new(["row", 1_000_000, 0.5, nil])]),
    Chart.new(:latency, [], [Note.new("instead")]), Figure.new("f", [Note.new("in a figure")], "reading"), Folded.new("folded", [Note.new("unfolded")]), Aside.new([Note.new("aside")])
  ].freeze

  test "every writer prints every block" do
    made = %i[Page Part Section Code Column Cell Row Ratio InOrder]
    assert_equal Report::Blocks.constants.sort - made, SAMPLES.map { |block| block.class.name.split("::").last.to_sym }.sort
    SAMPLES.each { |block| [text(page(block), verbose: true), markdown(page(block)), html(page(block))].each { |printed| refute_empty printed } }
  end

  test "a table's units stand above its columns, or beside its numbers where lines may be long" do
    assert_match(/^  name +took ms +share$\n^  row 1 +1\.00 +50\.0$/, text(page(table(1))))
    assert_includes markdown(page(table(1))), "| name | took | share |\n| --- | --- | --- |\n| row 1 | 1.00 ms | 50.0% |"
    assert_match(%r{<th scope="col" class="number">max ms</th>.*<td class="number" data-number="1e\+06">1\.00</td><td class="number" data-number="0\.5">50\.0</td>}m, html(page(table(1, sortable: true))))
  end

  test "a table has as many rows as there is room for: the rest are left out, or added up, or those worth a look are shown" do
    most = {brief: 2, markdown: 2}
    assert_match(/row 2 .*\n  3 rows more in the HTML report and in the JSON\.$/, text(page(table(5, most:))))
    assert_includes markdown(page(table(5, most:))), "3 rows more in the HTML report and in the JSON."
    assert_equal 5, html(page(table(5, most:))).scan('<th scope="row">').size
    assert_equal 5, text(page(table(5, most:)), verbose: true).scan(/row \d/).size
    added = table(5, most:, rest: ->(count) { Row.new(["#{5 - count} others", 1, 1.0, 1]) })
    assert_equal ["row 1", "4 others"], added.rows_for(:brief).map { |row| row.cells.first }
    keyed = table(5, nouns: %w[topology topologies]).then { |one| one.with(most:, rows: one.rows.map.with_index { |row, index| row.with(key: index.odd?) }) }
    assert_match(/row 2 .*\n +row 4 .*\n  2 of 5 topologies\.$/, text(page(keyed)))
  end

  test "marks, notes of a cell, several lines to a cell, and a row below another" do
    row = Row.new(["a", Cell.new(2_000_000, note: "of which 1"), %w[x y], nil], marks: %w[today fast], below: Row.new(["measured", 3_000_000, "", nil]))
    told = text(page(Table.new([Column.new("n"), Column.new("took", :duration), Column.new("by"), Column.new("z", page: true)], [row])))
    assert_equal ["  n          took ms  by", "  a             2.00  x   today", "                      y   fast", "   measured     3.00", "    took: of which 1"], told.lines(chomp: true).drop(3)
  end

  NAMES = %w[16 32].map { |mib| "YJIT on with #{mib} MiB after 200 calls" }.freeze

  def named(names, figures_count:)
    columns = [Column.new("name"), *(1..figures_count).map { |number| Column.new("figure #{number}", :figure) }]
    rows = names.map { |name| Row.new([Cell.new(name, style: :better), *["0.984x (0.981–0.987)"] * figures_count], marks: ["recommended"], style: :primary, below: Row.new(["measured", *["0.9x"] * figures_count])) }
    Table.new(columns, [*rows, Row.new(["", *["0.9x"] * figures_count])])
  end

  test "names are cut before they are coloured, and only as far as rows can still be told apart" do
    plain, coloured = [false, true].map { |color| text(page(named(NAMES, figures_count: 3)), color:) }
    assert_equal plain, Report::Paint.strip(coloured)
    assert_match(/\e\[32;1m[^\e]*…[^\e]*\e\[0m/, coloured)
    assert_equal 2, plain.lines.grep(/recommended/).map { |line| line[/\A  (.*?) +0\.984x/, 1] }.uniq.size
  end

  test "names that get too little room beside their numbers stand above them, whole" do
    plain, coloured = [false, true].map { |color| text(page(named(NAMES, figures_count: 4)), color:) }
    assert_equal plain, Report::Paint.strip(coloured)
    own_lines = plain.lines(chomp: true).drop(3).grep_v(/figure|0\.9/)
    assert_equal ["  name", *NAMES.flat_map { |name| ["  #{name} (primary)", "   measured"] }], own_lines
  end

  test "a column's length makes no two names the same" do
    names = %w[1 2].map { |number| "GET /a/very/long/#{number}/path/to/a/thing" }
    printed = text(page(Table.new([Column.new("endpoint", length: 20), Column.new("n", :count)], names.map { |name| Row.new([name, 5]) })))
    assert_equal 2, printed.lines.grep(/GET/).uniq.size
    refute_includes printed, names.first
  end

  def study_of(names, **)
    study = Tradeoffs.study(names.each_with_index.to_h { |name, index| [name, [25_123 - 900 * index, 1_100 + 20 * index]] }, **)
    estimate = ->(value) { Stats::Estimate.new(value:, low: value * 0.99, high: value * 1.01, level_ratio: nil, samples_count: 8) }
    study.with(points: study.points.map { |point| point.with(p99_ns: estimate.call(141e6), code_bytes: 45 * Units::MIB, code_ratio: 0.351) })
  end

  test "settings whose names differ in a word keep them whole in a window of 80 columns and of 100, and differ in the chart" do
    names = PumaTuner::Tradeoff::Menu.variants(%w[yjit], ruby_version: "3.4.1", memory_mib: [32], call_thresholds: [200, 2_000], cross: true).map(&:name)
    study = study_of(names, rounds_count: 10)
    [80, 100].each do |width|
      tables = PumaTuner::Report.render(study, format: :text, width:)[/^By variant\n(.*?)^  Middle/m, 1].lines(chomp: true)
      assert_empty tables.select { |line| line.length > width }
      names.each { |name| assert_equal 2, tables.grep(/\A  #{Regexp.escape(name)}(?: +[\d-]|\z)/).size, "#{name} in #{width} columns" }
    end
    assert_equal names.size, Report::Html::TradeoffChart.new(study).marks.map(&:name).uniq.size
  end

  test "a study of settings fits a terminal, each setting by its name" do
    names = PumaTuner::Tradeoff::Menu.variants(%w[yjit], ruby_version: "3.4.1").map(&:name)
    study = study_of(names)
    printed = PumaTuner::Report.render(study, format: :text, color: true)
    refute_includes printed, "?["
    lines = Report::Paint.strip(printed).lines(chomp: true)
    assert_empty lines.select { |line| line.length > 100 }
    tables = lines.select { |line| line.start_with?("  YJIT o") }.map { |line| line[/\A  (.*?) {2,}/, 1] || line[/\A  (.*?) \d/, 1] }
    assert_equal names.size, tables.first(names.size).uniq.size
    assert_equal names.size, tables.last(names.size).uniq.size
    assert_match(/CPU over YJIT off +memory over it/, lines.join("\n"))
  end

  test "a terminal shows of a whole tuning what it needs, and says that there is more" do
    assert_includes text(page(Note.new("n"), brief: :alone)), "A section"
    [page(Note.new("n"), brief: :alone, whole: true), page(Note.new("n"), brief: :never), page(Aside.new([Note.new("n")]))].each do |hidden|
      assert_equal "Title\n\nThere is more: --verbose, and in the HTML report.\n", text(hidden)
      assert_match(/\A.*A section\n  n\n\z/m, text(hidden, verbose: true))
    end
  end

  test "a summary folds what is not to stand open, and leaves out what is only for who reads further" do
    assert_equal "### PumaTuner: Title\n\nn\n", markdown(page(Note.new("n")))
    assert_includes markdown(page(Note.new("n"), open: false)), "<details><summary>A section</summary>\n\nn\n\n</details>"
    assert_equal "### PumaTuner: Title\n", markdown(page(Aside.new([Note.new("n")])))
  end

  test "text that nobody has escaped is no markup" do
    writer = PumaTuner::Report::Writers::Html.new(TuningFixture.advice_list)
    assert_raises(InvariantError) { writer.send(:tag, :p, "<b>") }
    assert_includes html(page(Paragraph.new("<b>"))), "<p>&lt;b&gt;</p>"
  end

  test "a value is told by its kind, and unknown is a dash" do
    estimate = Stats::Estimate.new(value: 2_000_000, low: 1_000_000, high: 3_000_000, level_ratio: 0.95, samples_count: 9)
    told = ->(value, kind, narrow: true) { Words.cell(value, Column.new("", kind), narrow:) }
    assert_equal ["-", "", "2.00 (1.00–3.00)", "2.00 ms (1.00–3.00)"], [told.call(nil, :count), told.call("", :count), told.call(estimate, :duration), told.call(estimate, :duration, narrow: false)]
    assert_equal ["1,234", "0.0%", "not shown"], [told.call(1_234, :count), told.call(-0.0, :percent), told.call(:not_shown, :outcome)]
    assert_equal [2_000_000, 5, nil], [Words.sort_number(estimate), Words.sort_number(Cell.new("5 ms", number: 5)), Words.sort_number("5 ms")]
  end

  # Charts show some of the numbers by their shapes' titles alone.
  def words_of_page(value)
    page = PumaTuner::Report.render(value, format: :html)[%r{<main>.*</main>}m]
    words("#{CGI.unescapeHTML(page.gsub(/<[^>]*>/, " "))} #{CGI.unescapeHTML(page.scan(/(?:title|aria-label)="([^"]*)"/).join(" "))}")
  end

  def words(text) = text.split(/[\s,;:()\[\]"]+/).grep(/\d/).map { |word| word.delete_suffix(".").delete("*<") }

  test "every number that a terminal shows is in the page" do
    values = [TuningFixture.tuning, TuningFixture.tuning(sweep: TuningFixture.wide_sweep), TuningFixture.cluster_observation, TuningFixture.observation_without_extension, TuningFixture.jobs_observation,
      TuningFixture.workload, TuningFixture.machine, ProofFixture.gems, ProofFixture.blocks, ProofFixture.factorial, FleetFixture.comparison, CompareFixture.outcome, Profiles.two_profiles,
      Profiles.costs(Profiles.samples({"App#call" => 5_000_000})), Tradeoffs.study({"off" => [1_000, 100], "on" => [600, 130]})]
    values.each do |value|
      # Of a few holders of the GVL, the rest is less than of many; a page has all topologies, and each one's range.
      text = PumaTuner::Report.render(value, format: :text, verbose: true).lines.grep_v(/% others$|of \d+ topologies|±/).join
      printed = words(text).grep_v(/…/)
      assert_empty printed.uniq - words_of_page(value), value.class.name
    end
  end
end
