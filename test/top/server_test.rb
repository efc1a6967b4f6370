# frozen_string_literal: true

require "test_helper"
require "fileutils"
require "tmpdir"
require "support/top_builders"

class TopServerTest < TunerTest
  include TopBuilders

  EVIL = "/srv/\e]0;owned\a\e[2J\n\u202eshop"

  test "a server is named by its process and its folder, whose name can't steer a terminal" do
    assert_equal "4711 (/srv/shop)", server.to_s
    assert_equal "4711", server(folder: nil).to_s
    refute_match(/[[:cntrl:]\u202e]/, server(folder: EVIL).to_s)
  end

  test "a process whose name the kernel cut amid a letter, and a file in other bytes, hide no server" do
    Dir.mktmpdir do |proc|
      FileUtils.mkdir_p(%w[fd ns].map { |name| File.join(proc, "7", name) })
      File.binwrite(File.join(proc, "7/stat"), "7 (обработчик".b.byteslice(0, 18) + ") S 1 7 7 0 -1 4194560 1 0 0 0 1 1 0 0 20 0 1 0 555 1 1\n")
      ["/srv/caf\xE9.ledger", "/srv/caf\xE9/book.ledger"].each_with_index { |path, fd| File.symlink(path, File.join(proc, "7/fd/#{fd}")) }
      File.symlink("pid:[4026531836]", File.join(proc, "7/ns/pid"))
      servers = Top::Servers.new(proc:)
      assert_equal "7-555-4026531836", servers.send(:identity_of, 7)
      assert_equal ["/srv", "/srv/caf\xE9"].map(&:b), servers.send(:open_folders, 7).map(&:b).sort
      assert_empty servers.all
    end
  end

  test "a process whose name looks like what stands behind it is taken for no other" do
    Dir.mktmpdir do |proc|
      FileUtils.mkdir_p(File.join(proc, "7/ns"))
      File.write(File.join(proc, "7/stat"), "7 (a) S 1 (b\n) R) S 1 7 7 0 -1 4194560 1 0 0 0 1 1 0 0 20 0 1 0 555 1 1\n")
      File.symlink("pid:[4026531836]", File.join(proc, "7/ns/pid"))
      assert_equal "7-555-4026531836", Top::Servers.new(proc:).send(:identity_of, 7)
    end
  end

  test "where several are meant, none of their folders steers the terminal of who asked" do
    servers = Top::Servers.new
    servers.define_singleton_method(:all) { [5_000_001, 5_000_002].map { |pid| Top::Server.new(pid:, identity: "a", directory: "/dev/shm/x", folder: EVIL, ours: false) } }
    said = assert_raises(UsageError) { servers.find }.message
    assert_match(/\A2 servers are recorded here; name one by its process id: 5000001 \(.*shop\), 5000002 \(/, said)
    refute_match(/[[:cntrl:]\u202e]/, said)
  end

  # As Solid Queue's plugin for Puma has jobs done in single mode: each process leads a folder of its own.
  test "what a server has forked, and records its jobs, is no second server, and is found by its own process id" do
    pid = fork { sleep }
    servers = Top::Servers.new
    servers.define_singleton_method(:all) { [pid, Process.pid].map { |one| Top::Server.new(pid: one, identity: "a", directory: "/dev/shm/#{one}", folder: Dir.pwd, ours: false) } }
    assert_equal [Process.pid] * 3, [nil, Process.pid.to_s, Dir.pwd].map { |named| servers.find(named).pid }
    assert_equal pid, servers.find(pid.to_s).pid
  ensure
    Process.kill(:KILL, pid)
    Process.wait(pid)
  end
end
