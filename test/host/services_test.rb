# frozen_string_literal: true

require "test_helper"
require "support/served_app"

# What serves an app on its own machine, told from those who disturb it.
class ServicesTest < TunerTest
  kind :integration

  include PumaTuner

  # A database that computes 20 ms for each question, in a process of its own for each connection. It names its place.
  DATABASE = <<~RUBY
    require "socket"
    server = ARGV[0] ? UNIXServer.new(ARGV[0]) : TCPServer.new("127.0.0.1", 0)
    puts ARGV[0] || server.addr[1]
    $stdout.flush
    loop do
      connection = server.accept
      fork do
        while connection.gets
          ends = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) + 0.02
          nil while Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) < ends
          connection.puts("rows")
        end
      end
      connection.close
    end
  RUBY

  RACKUP = <<~RUBY
    require "socket"
    run lambda { |env|
      place = ENV["DATABASE"]
      database = Thread.current[:database] ||= place.include?("/") ? UNIXSocket.new(place) : TCPSocket.new("127.0.0.1", place.to_i)
      database.puts("question")
      [200, {}, [database.gets]]
    }
  RUBY

  # @yieldparam pid [Integer] of the database
  # @yieldparam place [String] port or path
  def with_database(*words)
    database = IO.popen([RbConfig.ruby, "--disable-gems", "-e", DATABASE, *words], pgroup: true)
    yield database.pid, database.gets.chomp
  ensure
    Process.kill(:KILL, -database.pid)
    database.close
  end

  # @yieldparam server [Host::ServerProcess] that has been asked once
  def serving(place)
    ServedApp.open(rackup: RACKUP) do |app|
      command = Host::Command.new(words: %w[bundle exec puma], directory: app.folder, environment: app.environment.merge("DATABASE" => place))
      Host::ServerProcess.run(command, topology: Topology.parse("1x1")) do |server|
        assert_empty Host::Services.of(server.pids), "it has no connection yet"
        assert_equal "rows\n", Net::HTTP.get(URI(server.url))
        yield server
      end
    end
  end

  {"loopback" => [], "a Unix socket" => ["database.sock"]}.each do |way, words|
    test "a database that the server talks with over #{way} is a service, with all that it has started, and no stranger" do
      Dir.mktmpdir("puma_tuner-test") do |folder|
        with_database(*words.map { |name| File.join(folder, name) }) do |pid, place|
          serving(place) do |server|
            server.find_services
            assert_includes server.services, pid
            assert_empty server.services - Probe::Processes.tree_of(pid)
            before = Host::Readings.take(server, nil)
            20.times { Net::HTTP.get(URI(server.url)) }
            spent = Host::Readings.take(server, nil) - before
            assert_in_delta 0.4, spent.services_ns.fdiv(Units::NS_PER_S), 0.1
            # Its clocks are read one after the other.
            assert_in_delta spent.busy_ns - spent.cpu_ns - spent.services_ns, spent.foreign_ns(0), 0.05 * Units::NS_PER_S
          end
        end
      end
    end
  end

  # @return [IO] a process that is connected there
  def client(port)
    IO.popen([RbConfig.ruby, "--disable-gems", "-e", "require 'socket'; TCPSocket.new('127.0.0.1', #{port}); puts 1; $stdout.flush; sleep"]).tap(&:gets)
  end

  def end_of(child)
    Process.kill(:KILL, child.pid)
    child.close
  end

  test "who asks the server is none, nor who listens where it is not connected" do
    with_database do |pid, place|
      with_database do |other, _|
        serving(place) do |server|
          asking = client(URI(server.url).port)
          assert_equal [true, false, false], [pid, other, asking.pid].map { |one| Host::Services.of(server.pids).include?(one) }
          assert_equal server.pids, Host::Services.of([asking.pid]), "the server serves it"
        ensure
          end_of(asking) if asking
        end
      end
    end
  end

  test "this process is no stranger's service, though it listens for the server" do
    server = TCPServer.new("127.0.0.1", 0)
    child = client(server.addr[1])
    assert_empty Host::Services.of([child.pid])
  ensure
    end_of(child) if child
    server.close
  end

  # @param uid [Integer] of nobody whom the system knows
  # @yieldreturn [String]
  # @return [Array(Integer, IO)] its process, and what it says
  def as_user(uid)
    reader, writer = IO.pipe
    pid = fork do
      reader.close
      Process::UID.change_privilege(uid)
      writer.puts(yield)
      writer.close
      sleep
    end
    writer.close
    [pid, reader]
  end

  test "where we may not look into a service, its user's processes are it" do
    skip "takes a root that can become two users" unless Process.uid.zero?
    # What is loaded only where it is used has to be here before: another user may not be allowed to read this folder.
    Host::Services.of([Process.pid])
    listening = nil
    database, port = as_user(54_321) { (listening = TCPServer.new("127.0.0.1", 0)).addr[1] }
    port = port.gets.to_i
    server, found = as_user(54_322) { (@socket = TCPSocket.new("127.0.0.1", port)) && Host::Services.of([Process.pid]).inspect }
    assert_equal "[#{database}]", found.gets.chomp
  ensure
    [database, server].compact.each { |pid| Process.kill(:KILL, pid) && Process.wait(pid) }
  end

  test "what the kernel tells of Unix sockets is read to its end, and a cut or foreign answer ends it" do
    found = []
    peer = [8, Host::UnixPeers::PEER, 77].pack("SSL")
    message = [16 + 16 + 12 + peer.bytesize, Host::UnixPeers::BY_FAMILY, 0, 0, 0].pack("LSSLL") + [1, 1, 1, 0, 42, 0, 0].pack("CCCCLLL") + [9, 0].pack("SS") + "x" * 8 + peer
    assert Host::UnixPeers.messages(message * 2) { |*pair| found << pair }
    assert_equal [%w[42 77]] * 2, found
    ["\0" * 16, [16, Host::UnixPeers::DONE, 0, 0, 0].pack("LSSLL"), [0, Host::UnixPeers::BY_FAMILY, 0, 0, 0].pack("LSSLL")].each do |answer|
      refute(Host::UnixPeers.messages(answer) { flunk "nothing is told" })
    end
    server, client = UNIXSocket.pair
    inodes = [server, client].map { |socket| File.readlink("/proc/self/fd/#{socket.fileno}")[/\d+/] }
    assert_equal inodes.reverse, Host::UnixPeers.of(inodes)
  end

  test "a file that any process has open may have a name in other bytes" do
    Dir.mktmpdir do |folder|
      File.open(File.join(folder, "caf\xE9.mp3"), "w") do
        TCPServer.open("127.0.0.1", 0) do |server|
          inode = File.readlink("/proc/self/fd/#{server.fileno}")[/\d+/]
          assert_includes Host::Services.new([Process.pid]).send(:own), inode
        end
      end
    end
  end

  test "of a process that has gone there is nothing" do
    pid = Process.wait(spawn("true")) && $?.pid
    assert_equal [[], 0], [Host::Services.of([pid]), Host::Services.cpu_ns([pid])]
  end
end
