# frozen_string_literal: true

require "test_helper"
require "tmpdir"
require_relative "../../rakelib/docs_walk"

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
end
