# frozen_string_literal: true

require "test_helper"
require "tmpdir"
require_relative "../../rakelib/docs_walk"
require_relative "../../benchmark/support/bench"

# How `rake docs_test` reads a page, and that it notices what is wrong.
class DocsWalkTest < TunerTest
  def page(text)
    Dir.mktmpdir("puma_tuner-test") do |folder|
      path = File.join(folder, "page.md")
      File.write(path, text)
      return DocPage.new(path).then { |page| [page.blocks, page.anchors, page.links] }
    end
  end

  test "a block has its commands, with what they print, and says where it belongs" do
    blocks, anchors, links = page(<<~PAGE)
      # It's `one`: a page

      ## Twice
      ## Twice

      See [there](other.md#here), and [out](https://example.com).

      ```console
      $ first \\
        --option
      …
      printed 1
      $ second
      ```

      ```ruby file=config/puma.rb
      # [no](link.md)
      ```
    PAGE
    assert_equal [["first \\\n  --option", ["…", "printed 1"]], ["second", []]], blocks.first.commands
    assert_equal [8, {"file" => "config/puma.rb"}], [blocks.first.line, blocks.last.options]
    assert_equal %w[its-one-a-page twice twice-1], anchors
    assert_equal [["other.md", "here"]], links
  end

  test "in a quick walk each tune and prove has a minute" do
    assert_equal "puma_tuner tune --time 1m --path /", DocsWalk.shortened("puma_tuner tune --path / --time 5m")
    assert_equal "puma_tuner prove --time 1m --path / -- puma", DocsWalk.shortened("puma_tuner prove --path / -- puma")
    assert_equal "puma_tuner measure --load", DocsWalk.shortened("puma_tuner measure --load")
  end

  test "other numbers and lines left out pass, other words and another order do not" do
    printed = "Found   614 requests in 9.11 s\n\nThreads: busy\n  puma 001: 28.9%\n"
    assert_nil DocsWalk.missing(["…", "Found 7 requests in 1.0 s", "…", "puma 002: 3%"], printed)
    assert_nil DocsWalk.missing(["Found … s", "^C"], printed)
    assert_equal "Lost 7 requests", DocsWalk.missing(["Lost 7 requests"], printed)
    assert_equal "Found 1 requests", DocsWalk.missing(["Threads: busy", "Found 1 requests"], printed)
    assert_equal "Found many requests", DocsWalk.missing(["Found many requests"], printed)
  end

  test "a proof that proved nothing is told apart from one that ended early, and in the closing line" do
    Dir.mktmpdir("puma_tuner-test") do |folder|
      FileUtils.mkdir_p(DocsWalk::PLACE)
      shell = DocsWalk::Shell.new(folder, "walk_test")
      ends = ->(words) { capture_io { shell.run("(echo 'puma_tuner: #{words}' >&2; exit 3)") } }
      ends.call("the proof ended early: 3 of 9 rounds")
      assert_equal [1, 0], [shell.early_count, shell.unproven_count]
      ends.call("nothing is proven: no round was undisturbed")
      assert_equal [1, 1], [shell.early_count, shell.unproven_count]
      assert_raises(DocsWalk::Wrong) { ends.call("the app does not boot") }
      capture_io { shell.run("true", of_page: false) }
      assert_equal 3, shell.commands_count, "what checks the page is no command of it"
    end
    assert_equal ["", ", 2 proofs ended early", ", 1 proof ended early, 1 proof proved nothing"], [DocsWalk.proofs(0, 0), DocsWalk.proofs(2, 0), DocsWalk.proofs(1, 1)]
    assert_equal "docs_test: 1 of 2 pages are fine.", DocsWalk.closing(["fine   a", "WRONG  b"], 0)
    assert_match(/1 of 1 pages are fine; of 2 proofs nothing came/, DocsWalk.closing(["fine   a"], 2))
  end

  test "a page of which no command was run, or a unit of systemd was not checked, says so" do
    assert_equal ["", ", no command of it was run"], [DocsWalk.left_out(2, 0), DocsWalk.left_out(0, 0)]
    assert_equal ", no command of it was run, 1 of systemd's units not checked without systemd-analyze", DocsWalk.left_out(0, 1)
  end

  test "its lines are a section of the page of reliability, which leaves the others' there" do
    section = DocsWalk.section(["fine   README.md: 1.0 min", "WRONG  docs/a.md: line 3: it ends with 1:\nall that was printed", "docs_test: 1 of 2 pages are fine."], "Made with x.")
    assert_match(/\A## Documentation: .*\n\n.*WRITE=1`\.\n\nCommands run .*\n\nMade with x\.\n\n\*\*1 of 2 pages are fine\.\*\*\n\n- fine README\.md: 1\.0 min\n- WRONG docs\/a\.md: line 3: it ends with 1:\n\z/, section)
    page = "# Reliability\n\nsoak\n\n## Fuzz: readers\n\nmany\n"
    both = Bench::Page.joined(page, section)
    assert_equal [page, section], both.split(/\n(?=## Documentation)/)
    assert_equal both, Bench::Page.joined(both, section)
    assert_equal both.sub("many", "more"), Bench::Page.joined(Bench::Page.joined(both, "## Fuzz: readers\n\nmore\n"), section)
    assert_equal both.sub("soak", "soak again"), Bench::Page.joined(both, "# Reliability\n\nsoak again\n")
  end
end
