# frozen_string_literal: true

require "test_helper"
require "support/top_builders"

class TopServerTest < TunerTest
  include TopBuilders

  EVIL = "/srv/\e]0;owned\a\e[2J\n\u202eshop"

  test "a server is named by its process and its folder, whose name can't steer a terminal" do
    assert_equal "4711 (/srv/shop)", server.to_s
    assert_equal "4711", server(folder: nil).to_s
    refute_match(/[[:cntrl:]\u202e]/, server(folder: EVIL).to_s)
  end

  test "where several are meant, none of their folders steers the terminal of who asked" do
    servers = Top::Servers.new
    servers.define_singleton_method(:all) { [4711, 4712].map { |pid| Top::Server.new(pid:, identity: "a", directory: "/dev/shm/x", folder: EVIL, ours: false) } }
    said = assert_raises(UsageError) { servers.find }.message
    assert_match(/\A2 servers are recorded here; name one by its process id: 4711 \(.*shop\), 4712 \(/, said)
    refute_match(/[[:cntrl:]\u202e]/, said)
  end
end
