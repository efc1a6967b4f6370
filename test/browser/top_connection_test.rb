# frozen_string_literal: true

require "test_helper"
require "socket"
require "uri"
require "support/top_builders"
require_relative "dev_tools"

# What the page of `puma_tuner top --web` says of its connection, in a real browser.
class TopConnectionInBrowserTest < TunerTest
  include TopBuilders

  time_limit 180

  def setup
    skip "no Chromium here: install chromium to test the page in a browser" unless Chromium.path
    @web = web("tcp://127.0.0.1:0")
    @web.start
  end

  def teardown = @web&.stop

  def web(address, **) = Top::Web.new(Top::Web.address(address), lanes: -> { raise MeasurementFailed, "nothing is recorded here" }, **)

  # A look of now.
  def publish
    empty, full = [[], [entry("GET /a", [10] * 200, cpu: 800, gvl_wait: 900)]].map { |entries| {"a.ledger" => ledger(*entries)} }
    @web.publish(Top::Status.of(server, reading(0, empty), reading(10, full)))
  end

  # The command ends without a word, and is called again with the same address.
  def restart(**)
    port = URI(@web.url).port
    @web.stop
    Thread.list.select { |thread| thread.backtrace.to_a.any? { |line| line.include?("top/web.rb") } }.each { |thread| thread.kill.join }
    @web = web("tcp://127.0.0.1:#{port}", **)
    @web.start
  end

  def page
    DevTools.open do |tools|
      tools.visit(@web.url)
      yield tools
    end
  end

  def said(tools) = tools.value("document.getElementById('connection')?.textContent")

  def lost?(tools) = tools.value("document.getElementById('connection').classList.contains('lost')")

  def freeze(tools) = tools.value("document.getElementById('freeze').click()")

  def wait_for(text, tools) = wait_until(text.inspect) { text === said(tools) }

  test "the end stays the end, however often the page is frozen" do
    publish
    page do |tools|
      wait_for("Live", tools)
      freeze(tools)
      assert_equal "Frozen", said(tools)
      @web.finish
      wait_for("Frozen · The server has ended.", tools)
      freeze(tools)
      assert_equal ["The server has ended.", true], [said(tools), lost?(tools)]
      2.times { freeze(tools) }
      assert_equal "The server has ended.", said(tools)
      assert_empty tools.complaints
    end
  end

  test "each look is a point of the charts, however closely they follow each other" do
    publish
    page do |tools|
      wait_for("Live", tools)
      5.times { publish && sleep(0.1) }
      points = "document.querySelector('#rate path.rate').getAttribute('d').split(/[ML]/).length - 1"
      wait_until("the points") { tools.value(points) >= 6 }
      assert_equal 6, tools.value(points)
    end
  end

  test "where nothing new comes it says since when, also after a freeze, until something does" do
    2.times { publish }
    page do |tools|
      wait_for("Live", tools)
      freeze(tools)
      wait_for(/\AFrozen · Nothing new since \d+:\d\d:\d\d/, tools)
      freeze(tools)
      assert_match(/\ANothing new since /, said(tools))
      assert lost?(tools)
      publish
      wait_for("Live", tools)
      refute lost?(tools)
    end
  end

  test "a browser for whom there is no place says that it will not try again" do
    publish
    url = URI(@web.url)
    sockets = Array.new(Top::Web::CLIENTS_MAX) { TCPSocket.new(url.host, url.port).tap { |one| one.write("GET #{url.path}events HTTP/1.1\r\nHost: localhost\r\n\r\n") && one.gets } }
    page do |tools|
      wait_for("The connection is closed; reload the page.", tools)
      assert lost?(tools)
    end
  ensure
    sockets&.each(&:close)
  end

  test "a connection that breaks is tried again, until another run of the command refuses it" do
    publish
    page do |tools|
      wait_for("Live", tools)
      restart(token: URI(@web.url).path.delete("/"))
      wait_for("The connection is lost; trying again …", tools)
      publish
      wait_for("Live", tools)
      restart
      wait_for("The connection is closed; reload the page.", tools)
      2.times { freeze(tools) }
      assert_equal ["The connection is closed; reload the page.", true], [said(tools), lost?(tools)]
    end
  end
end
