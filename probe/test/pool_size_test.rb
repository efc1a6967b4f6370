# frozen_string_literal: true

require "test_helper"
require "json"
require "puma"
require "puma/server"
require "socket"

# A real pool of Puma's, resized while it serves and while it does not.
class PoolSizeTest < TunerTest
  Size = PumaTuner::Probe::Puma::PoolSize

  time_limit 40

  # A process says each fault once.
  def setup
    super
    PumaTuner::Probe.instance_variable_set(:@told_faults, nil)
  end

  def app
    lambda do |env|
      @gate.pop if env["PATH_INFO"] == "/gate"
      sleep 0.002 if env["PATH_INFO"] == "/short"
      [200, {}, ["fine"]]
    end
  end

  # @yieldparam server [Puma::Server]
  def serving(threads, **options)
    @gate = Queue.new
    @server = Puma::Server.new(app, nil, {min_threads: threads, max_threads: threads, log_writer: Puma::LogWriter.null, **options})
    @port = @server.add_tcp_listener("127.0.0.1", 0).addr[1]
    @server.run
    yield @server
  ensure
    @gate.close
    @server.stop(true)
  end

  # @return [Thread] whose value is the status line
  def ask(path)
    Thread.new do
      TCPSocket.open("127.0.0.1", @port) do |socket|
        socket.write("GET #{path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        socket.read.to_s.lines.first.to_s.chomp
      end
    end
  end

  def gate(count) = Array.new(count) { ask("/gate") }

  def open_gate(clients)
    clients.size.times { @gate << true }
    assert_equal ["HTTP/1.1 200 OK"], clients.map(&:value).uniq, "every request has its response"
  end

  def pool = Size.read(@server)

  def counts = pool.values_at(:spawned_count, :live_count)

  # As the probe's thread does it, faster.
  def come_to(count)
    wait_until("a pool of #{count}", limit_s: 10) { Size.set(@server, min: count, max: count) && counts == [count, count] }
  end

  test "an idle pool that gets more threads serves as many requests at once" do
    serving(1) do |server|
      assert Size.set(server, min: 3, max: 3)
      clients = gate(3)
      wait_until("three requests at once") { @gate.num_waiting == 3 }
      assert_equal [3, 3], counts
      assert_equal 3, server.max_threads, "what Puma's own statistics tell"
      open_gate(clients)
    end
  end

  test "a busy pool that gets more threads serves those that wait, without another client" do
    serving(1) do |server|
      clients = gate(4)
      wait_until("a request, and three queued") { @gate.num_waiting == 1 && pool[:queued_count] == 3 }
      Size.set(server, min: 3, max: 3)
      wait_until("three at once") { @gate.num_waiting == 3 }
      assert_equal [3, 3], counts
      open_gate(clients)
    end
  end

  test "an idle pool gives threads up at once" do
    serving(5) do |server|
      Size.set(server, min: 2, max: 2)
      wait_until("two threads", limit_s: 2) { counts == [2, 2] }
      assert Size.set(server, min: 2, max: 2)
      open_gate(gate(2))
    end
  end

  test "a busy pool gives threads up as their requests end, though there is always a client queued" do
    serving(5) do |server|
      clients = gate(20)
      wait_until("five requests, and others queued") { @gate.num_waiting == 5 && pool[:queued_count] == 15 }
      refute Size.set(server, min: 2, max: 2), "five threads serve"
      assert_equal [5, 5], counts, "no request is interrupted"
      5.times { @gate << true }
      come_to(2)
      assert_equal 13, pool[:queued_count], "the three that ended took no other"
      assert_equal 2, @gate.num_waiting
      open_gate(clients)
    end
  end

  test "a pool with some busy threads and some idle ones gives up both" do
    serving(6) do |server|
      clients = gate(4)
      wait_until("four requests") { @gate.num_waiting == 4 }
      Size.set(server, min: 1, max: 1)
      wait_until("idle ones gone") { Size.set(server, min: 1, max: 1) || counts == [4, 4] }
      open_gate(clients)
      come_to(1)
    end
  end

  test "a pool that was made smaller while it was busy gets all its threads again" do
    serving(5) do |server|
      clients = gate(8)
      wait_until("five requests") { @gate.num_waiting == 5 && pool[:queued_count] == 3 }
      Size.set(server, min: 2, max: 2)
      5.times { @gate << true }
      come_to(2)
      Size.set(server, min: 5, max: 5)
      more = gate(4)
      wait_until("five at once") { @gate.num_waiting == 5 }
      assert_equal [5, 5], counts
      open_gate(clients + more)
    end
  end

  test "what was to end and is wanted again goes on" do
    serving(4) do |server|
      clients = gate(6)
      wait_until("four requests") { @gate.num_waiting == 4 && pool[:queued_count] == 2 }
      Size.set(server, min: 1, max: 1)
      Size.set(server, min: 4, max: 4)
      open_gate(clients)
      more = gate(4)
      wait_until("four at once") { @gate.num_waiting == 4 }
      assert_equal [4, 4], counts
      open_gate(more)
    end
  end

  test "threads that the app has marked as waiting for IO are not taken for too many" do
    serving(2, max_io_threads: 2) do |server|
      io = server.instance_variable_get(:@thread_pool).instance_variable_get(:@processors)
      clients = gate(2)
      wait_until("two requests") { @gate.num_waiting == 2 }
      io.dup.each(&:mark_as_io_thread!)
      more = gate(2)
      wait_until("two more") { @gate.num_waiting == 4 }
      assert Size.set(server, min: 2, max: 2)
      assert_equal [4, 4], counts
      open_gate(clients + more)
      come_to(2)
    end
  end

  # A probe's own thread, whose looks are taken one by one.
  #
  # @return [PumaTuner::Probe::Resize]
  def resize(folder, why_not: nil)
    ledgers = Struct.new(:directory).new(folder)
    recording = Struct.new(:ledgers, :ledger_path, :worker_index, :why_not).new(ledgers, File.join(folder, "1.ledger"), 0, why_not)
    PumaTuner::Probe::Resize.new(@server, recording:, allowed: PumaTuner::Probe::Resize::Allowed.of(trial: true, tune: nil))
  end

  def order(folder, count)
    PumaTuner::Probe::Resize::Order.new(controller: PumaTuner::Probe::Processes.identity(Process.pid), threads: {Process.pid => count},
      expires_at_ns: PumaTuner::Clock.now_ns + 20 * 1_000_000_000).write(folder)
  end

  test "after a fault of ours the pool is looked at until no thread is beyond what is configured, and Puma counts right" do
    Dir.mktmpdir do |folder|
      serving(3) do |server|
        resize = resize(folder)
        assert resize.look
        order(folder, 5)
        assert resize.look
        clients = gate(8)
        wait_until("five requests") { @gate.num_waiting == 5 && pool[:queued_count] == 3 }
        def resize.obey = raise("ours")
        _, said = capture_subprocess_io { assert resize.look, "two threads are still beyond it" }
        assert_match(/could not be resized/, said)
        open_gate(clients)
        wait_until("the end of its looks") { !resize.look }
        assert_equal [3, 3], counts
        assert_equal "fault", JSON.parse(File.read(File.join(folder, "1.pool")))["why_not"]
      end
    end
  end

  # @return [Array, nil] what a controller can read: threads, and why not
  def told(folder) = PumaTuner::Probe::Resize.state(File.join(folder, "1.ledger"))&.values_at(:threads, :why_not)

  # Nothing can be written there, as the partial file can't be.
  def in_the_way(folder)
    path = File.join(folder, "1.pool.#{Process.pid}.partial")
    Dir.mkdir(path)
    yield
  ensure
    Dir.rmdir(path)
  end

  # @yieldparam folder [String]
  # @yieldparam resize [PumaTuner::Probe::Resize] of a server with three threads
  # @return [String] what it said
  def resizing(**options)
    Dir.mktmpdir do |folder|
      serving(3) do
        _, said = capture_subprocess_io { yield folder, resize(folder, **options) }
        assert_equal "HTTP/1.1 200 OK", ask("/").value
        return said
      end
    end
  end

  test "what can't be told for a moment is told the next time, and meanwhile nothing that is no longer so" do
    said = resizing do |folder, resize|
      in_the_way(folder) { assert resize.look }
      assert resize.look
      assert_equal [nil, nil], told(folder), "what it allows is told, though nothing was ordered"
      order(folder, 5)
      in_the_way(folder) do
        2.times { assert resize.look }
        assert_equal [[5, 5], nil], [pool.values_at(:min_count, :max_count), told(folder)]
      end
      assert resize.look
      assert_equal [5, nil], told(folder)
      in_the_way(folder) do
        File.unlink(File.join(folder, "resize.order"))
        assert resize.look
        assert_equal [[3, 3], nil], [pool.values_at(:min_count, :max_count), told(folder)]
      end
      assert resize.look
      assert_equal [nil, nil], told(folder)
    end
    assert_empty said
    resizing(why_not: "it can't") do |folder, resize|
      in_the_way(folder) { assert resize.look }
      refute resize.look
      assert_equal [nil, "it can't"], told(folder)
    end
  end

  test "an order that can't be read for a moment is obeyed the next time, and meanwhile the pool has what is configured" do
    said = resizing do |folder, resize|
      order(folder, 5)
      2.times { assert resize.look }
      File.rename(File.join(folder, "resize.order"), File.join(folder, "other"))
      Dir.mkdir(File.join(folder, "resize.order"))
      assert resize.look
      assert_equal [[3, 3], [nil, "unreadable"]], [pool.values_at(:min_count, :max_count), told(folder)]
      Dir.rmdir(File.join(folder, "resize.order"))
      order(folder, 5)
      assert resize.look
      assert_equal [[5, 5], [5, nil]], [pool.values_at(:min_count, :max_count), told(folder)]
    end
    assert_empty said
  end

  test "a fault of ours that can't be told at once is told later, and nothing meanwhile" do
    said = resizing do |folder, resize|
      resize.look
      def resize.obey = raise("ours")
      in_the_way(folder) do
        2.times { assert resize.look }
        assert_nil told(folder)
      end
      refute resize.look
      assert_equal [nil, "fault"], told(folder)
      assert_equal [3, 3], counts
    end
    refute_match(/pool of threads keeps/, said)
  end

  test "where nothing can be written or removed any more, the pool that is given back is not said to be kept" do
    said = resizing do |folder, resize|
      order(folder, 5)
      2.times { resize.look }
      path = File.join(folder, "1.pool")
      File.unlink(path)
      Dir.mkdir(path)
      def resize.obey = raise("ours")
      assert resize.look
      assert_equal [3, 3], pool.values_at(:min_count, :max_count)
    end
    refute_match(/keeps/, said)
  end

  test "a pool that can't be given back is said to be kept, once, and nothing else is told of it" do
    said = resizing do |folder, resize|
      order(folder, 5)
      2.times { resize.look }
      resize.instance_variable_set(:@configured, [3, 0])
      def resize.obey = raise("ours")
      refute resize.look
      assert_nil told(folder)
    end
    assert_match(/the pool of threads keeps 5 \(ArgumentError/, said)
  end

  test "a size that can't be is refused, and changes nothing: with none, Puma would never serve again" do
    serving(2) do |server|
      [[0, 0], [-1, 2], [3, 2], [1, 1.5], [nil, 2]].each do |min, max|
        assert_raises(ArgumentError) { Size.set(server, min:, max:) }
      end
      assert_equal [2, 2], pool.values_at(:min_count, :max_count)
      assert_equal "HTTP/1.1 200 OK", ask("/").value
    end
  end

  test "a pool that is being shut down is left alone" do
    serving(3) do |server|
      server.stop(true)
      assert Size.set(server, min: 1, max: 1)
      assert_equal 3, server.max_threads
    end
  end

  test "a server that has not begun has no pool" do
    server = Puma::Server.new(app, nil, {min_threads: 1, max_threads: 1, log_writer: Puma::LogWriter.null})
    assert_nil Size.read(server)
    refute Size.set(server, min: 1, max: 2)
  end

  test "what can't be resized says why" do
    assert_match(/before it was recorded/, Size.why_not(nil))
    assert_match(/Puma 8 can/, Size.why_not(Object.new))
    serving(1) { |server| assert_nil Size.why_not(server) }
    serving(1, fiber_per_request: true) { |server| assert_match(/fiber_per_request/, Size.why_not(server)) }
  end

  # The facts of Puma that the module is there for. Where one of these fails, a newer Puma has no need of it.
  test "Puma's own means alone: a raised maximum starts nothing, trim never bites in a busy pool" do
    serving(1) do |server|
      clients = gate(4)
      wait_until("three queued") { pool[:queued_count] == 3 }
      server.update_thread_pool_min_max(min: 3, max: 3)
      sleep 0.1
      assert_equal 1, pool[:spawned_count]
      open_gate(clients)
    end
    serving(3) do |server|
      clients = gate(8)
      wait_until("five queued") { pool[:queued_count] == 5 }
      server.update_thread_pool_min_max(min: 1, max: 1)
      2.times { server.instance_variable_get(:@thread_pool).trim(true) }
      3.times { @gate << true }
      wait_until("the next requests") { pool[:queued_count] == 2 && @gate.num_waiting == 3 }
      assert_equal 3, pool[:live_count]
      open_gate(clients)
    end
  end

  test "Puma 8.0.2 alone counts a thread that it took out of a busy pool as spawned (puma/puma#3958)" do
    return assert_operator(Gem::Version.new(Puma::Const::PUMA_VERSION), :>, Gem::Version.new("8.0.2")) if Puma::Const::PUMA_VERSION != "8.0.2"
    serving(3) do |server|
      clients = gate(3)
      wait_until("three requests") { @gate.num_waiting == 3 }
      server.update_thread_pool_min_max(min: 2, max: 2)
      processors = server.instance_variable_get(:@thread_pool).instance_variable_get(:@processors)
      processors.last.marked_as_io_thread = true
      open_gate(clients)
      wait_until("one gone") { pool[:live_count] == 2 }
      assert_equal 3, pool[:spawned_count]
      Size.set(server, min: 2, max: 2)
      assert_equal [2, 2], counts
    end
  end

  test "a pool that is resized at random under load loses no request, and ends with the threads that it should have" do
    random = Random.new(8)
    serving(4) do |server|
      stopped = false
      clients = Array.new(12) { Thread.new { [].tap { |statuses| statuses << ask("/short").value until stopped } } }
      resizes = Array.new(60) do
        size = random.rand(1..8)
        Size.set(server, min: size, max: size)
        sleep random.rand * 0.05
        pool.then { |now| now[:spawned_count] - now[:live_count] }
      end
      come_to(3)
      stopped = true
      statuses = clients.flat_map(&:value)
      assert_equal ["HTTP/1.1 200 OK"], statuses.uniq
      assert_operator statuses.size, :>, 300
      assert_operator resizes.max, :<=, 8
      come_to(3)
    end
  end
end
