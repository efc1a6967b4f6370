# frozen_string_literal: true

require "test_helper"
require "support/top_builders"

class TopViewTest < TunerTest
  include TopBuilders

  def press(keys, now: nil, view: Top::View.first) = keys.chars.inject([view, nil]) { |(one, _), key| one.press(key, now) }

  test "pages have their own order, which stays while others are looked at" do
    assert_equal [:endpoints, :requests], press("").first.then { |view| [view.page, view.sort] }
    assert_equal [:workers, :worker], press("w").first.then { |view| [view.page, view.sort] }
    assert_equal [:endpoints, :time], press("sswse").first.then { |view| [view.page, view.sort] }
    assert_equal :requests, press("ssss").first.sort, "after the last comes the first"
  end

  test "a frozen screen stands still until the next blank" do
    early, late = status(entry("GET /a", [1])), status(entry("GET /b", [1]))
    frozen, = press(" ", now: early)
    assert_equal early, frozen.shown(late)
    assert_nil frozen.held_against
    assert_equal late, press(" ", now: late, view: frozen).first.shown(late)
  end

  test "a difference is to the frozen screen, and freezes what is there where nothing was" do
    early, late = status(entry("GET /a", [1])), status(entry("GET /b", [1]))
    view, = press("d", now: early)
    assert_equal [late, early], [view.shown(late), view.held_against]
    back, = press("d", now: late, view:)
    assert_equal [early, nil], [back.shown(late), back.held_against], "the frozen screen again"
    assert_equal late, press(" ", now: late, view: back).first.shown(late)
  end

  test "quitting and a snapshot are done by whoever asks; other keys do nothing" do
    assert_equal :quit, press("q").last
    assert_equal :snapshot, press("n").last
    assert_equal :profile, press("p").last
    %w[x E 1].each { |key| assert_equal [Top::View.first, nil], press(key) }
  end

  test "help goes away with any key, which does nothing else" do
    view, = press("?")
    assert view.help
    assert_equal [false, :endpoints], press("w", view:).first.then { |after| [after.help, after.page] }
    assert_equal :quit, press("q", view:).last
  end

  test "what is said about a key is gone with the next" do
    view = Top::View.first.with(message: Statement.of(:no_recording))
    assert_equal "No snapshot: nothing of this command records the server.", Report::TopWords.message(view.message)
    assert_nil press("x", view:).first.message
    assert_nil press("w", view:).first.message
  end
end
