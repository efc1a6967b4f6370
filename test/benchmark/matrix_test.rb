# frozen_string_literal: true

require "test_helper"
require "support/tuning_fixture"
require_relative "../../benchmark/matrix"

class MatrixTest < TunerTest
  CELLS = Matrix::Cells.all

  def found(cell = CELLS.first, **changes)
    Matrix::Found.new(cell:, failures: [], versions: {"puma" => "6.6.1", "rack" => "2.2.25"}, seconds: 20, explained_ratio: 0.9999, cpu_ratio: 0.64, requests_count: 900, **changes)
  end

  def page(found, seconds: 1_200, **)
    Matrix::Page.new(machine: PumaTuner::Probe::MachineFacts.read, found:, combinations_count: CELLS.size, seconds:, **)
  end

  test "any two values stand in a cell, and the cells are as few as they can be" do
    chosen = Matrix::Cells.pairwise(CELLS)
    assert_empty CELLS.flat_map(&:pairs).uniq - chosen.flat_map(&:pairs)
    assert_equal [288, 24], [CELLS.size, chosen.size], "eight frameworks with three Pumas each"
    more = Matrix::Cells.all(["3.3.8", "4.0.1"])
    assert_empty more.flat_map(&:pairs).uniq - Matrix::Cells.pairwise(more).flat_map(&:pairs)
  end

  test "a cell that fails is told with its reason, and ends the run with status 1" do
    page = page([found, found(CELLS.last, failures: ["its endpoints are called GET /x, and are GET /"])])
    assert_equal [%i[met missed], 1], [page.outcomes, Bench.status(page.outcomes)]
    assert_match(/\*\*1 of 2 cells failed\.\*\*.*\n\n- Ruby 3\.4\.5, Puma 8\.0, Rack 3\.2, Grape, two workers: its endpoints are called GET \/x/, page.results)
    assert_match(/\| 3\.3\.8 \| 6\.6\.1 \| 2\.2\.25 \| Rack alone +\| one process \|   99\.99% \| +64% \| +fine/, page.results)
  end

  test "the page tells which Rubies were tried, and which were not, how far CPU may be off, and how long it took" do
    text = page([found, found(CELLS.last)]).results
    assert_match(/The Rubies that were tried: 3\.3\.8, 3\.4\.5; `bin\/setup` had provided no other\./, text)
    assert_match(/The Rubies that were tried: 3\.3\.8; left out, though `bin\/setup` had provided it: 4\.0\.1\./, page([found], left_out: %w[4.0.1]).results)
    assert_includes text, "their CPU is 50% to 103% of what the kernel counts"
    assert_includes text, "It took 20 minutes, without building the Rubies; the target is 60: met."
    late = page([found], seconds: 3_700)
    assert_equal [%i[met missed], true], [late.outcomes, late.results.include?("It took 62 minutes, without building the Rubies; the target is 60: missed.")]
  end

  test "what others wrote of the page stays" do
    before = "# What it runs with\n\nAbove.\n\n#{Matrix::Page::BEGINS}\nold\n#{Matrix::Page::ENDS}\n\nBelow.\n"
    text = page([found], before:).to_s
    assert_match(/\A# What it runs with\n\nAbove\.\n.*All 1 cells are fine.*\n\nBelow\.\n\z/m, text)
    refute_includes text, "old"
    assert_equal text.scan("All 1 cells").size, page([found], before: text).to_s.scan("All 1 cells").size
    assert page([found], before: "# Others\n").to_s.start_with?("# Others\n\n#{Matrix::Page::BEGINS}\n")
    assert_match(/\A# What it runs with\n\n<!-- matrix/, page([found]).to_s)
  end

  test "only a whole run is worth the page" do
    assert_raises(OptionParser::InvalidArgument) { Matrix::Options.parse(%w[--only Grape --write]) }
    assert_equal [true, 3], Matrix.cells(Matrix::Options.parse(["--only", "grape"])).then { |cells| [cells.all? { |cell| cell.framework == "Grape" }, cells.map(&:puma).uniq.size] }
  end

  # A server of the fixture's, in place of a Ruby of its own: what is judged, and how.
  Place = Struct.new(:printed, :code, :logged, :left) do
    def bundle(_) = nil

    def gems(_) = {"puma" => "8.0.2"}

    def puma_tuner(*, folder:, **)
      PumaTuner::Document.write(TuningFixture.tuning, File.join(folder, "tuning.json")) if code.zero?
      File.write(File.join(folder, Matrix::Trial::LOG), logged) if logged
      Process.detach(spawn("sleep", "60", chdir: folder)) if left
      [printed, code]
    end
  end

  def tried(printed, code, logged = "* Listening\n", left: false)
    Matrix::Trial.new(CELLS.first, Place.new(printed, code, logged, left)).call
  end

  # @return [Array<String>] of a cell whose server ended in that way
  def at_the_end(...) = tried(...).failures.grep(/complained|left running|was kept/)

  test "a cell is judged by endpoints, topology and the way in which the server ends" do
    failures = tried("puma_tuner: 30 s left\n", 0).failures.join("\n")
    assert_match(/its endpoints are called .*, and are GET \/, GET \/articles\/:id/, failures)
    assert_match(/it served as 1x5/, failures)
    failures = tried("…\npuma_tuner: no\n", 3, "! Unable to load\n").failures
    assert_match(/`tune` ended with 3: puma_tuner: no \/ ! Unable to load/, failures.join)
    assert_equal "8.0.2", tried("", 0).versions.fetch("puma")
  end

  # In the words that the program has for it today.
  test "what probe and Ruby say in the server's output, what could not be stopped, and what is left running fails a cell" do
    _, said = capture_io { PumaTuner::Probe.say("this process can't be watched") }
    _, stuck = capture_io { PumaTuner::Host::ServerProcess.new("puma").send(:tell_left, 7) }
    assert_empty at_the_end("puma_tuner: 30 s left\n", 0)
    assert_equal ["it complained: #{said.strip}"], at_the_end("", 0, "* Listening\n#{said}- Goodbye!\n")
    assert_equal ["it complained: a.rb:1: [BUG] Segmentation fault at 0x0"], at_the_end("", 0, "a.rb:1: [BUG] Segmentation fault at 0x0\n")
    assert_equal ["it complained: #{stuck.strip}"], at_the_end("…\n#{stuck}", 0)
    assert_equal ["it complained: b.rb:1: [BUG] of the simulator"], at_the_end("b.rb:1: [BUG] of the simulator\n", 0)
    assert_equal ["1 processes were left running"], at_the_end("", 0, left: true)
    assert_equal ["nothing of its server's output was kept"], at_the_end("", 0, nil)
  end
end
