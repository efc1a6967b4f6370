# frozen_string_literal: true

require "test_helper"

class ProcessesTest < TunerTest
  include PumaTuner::Probe

  NAME = "of one name"

  def teardown = @threads.to_a.each { |thread| ended(thread) }

  # Ruby says so a moment before the kernel does, which counts the thread and its name until then.
  def ended(thread)
    id = thread.native_thread_id
    thread.kill.join
    wait_until("the kernel's thread has ended") { !File.exist?("/proc/self/task/#{id}") } if id
  end

  # A thread that has taken so many short naps, each of which it may wait after, and now sleeps.
  def sleeper(naps_count)
    done = Queue.new
    thread = Thread.new do
      naps_count.times { sleep 0.0001 }
      done << true
      Thread.stop
    end
    thread.name = NAME
    (@threads ||= []) << thread
    done.pop
    Thread.pass until File.read("/proc/self/task/#{thread.native_thread_id}/comm").chomp == NAME
    thread
  end

  def kernel_ns(thread) = File.read("/proc/self/task/#{thread.native_thread_id}/schedstat").split[1].to_i

  # The kernel counts on meanwhile.
  def assert_waited(before)
    low_ns = yield
    waited_ns = Processes.run_queue_waits_since(before, [Process.pid]).fetch(Process.pid).fetch(NAME)
    assert_includes low_ns..yield, waited_ns
  end

  test "a thread that has the name of one that has ended has waited for as long as itself" do
    stays, ends = sleeper(20), sleeper(500)
    before = Processes.run_queue_waits([Process.pid])
    earlier_ns = before.fetch(Process.pid).transform_values(&:last)
    ended(ends)
    later = sleeper(1)
    assert_waited(before) do
      [stays, later].sum { |thread| kernel_ns(thread) - earlier_ns.fetch(thread.native_thread_id, 0) }
    end
  end

  test "an id that the kernel gives once more begins at 0" do
    thread = sleeper(1)
    assert_waited({Process.pid => {thread.native_thread_id => [NAME, kernel_ns(thread) + 10**15]}}) { kernel_ns(thread) }
  end

  test "the waits of all threads of a name add up, and those of all names" do
    threads = Array.new(2) { sleeper(20) }
    assert_waited({}) { threads.sum { |thread| kernel_ns(thread) } }
    assert_operator threads.sum { |thread| kernel_ns(thread) }, :<=, Processes.run_queue_wait_sum_ns(["self"])
  end

  test "a process whose name the kernel cut amid a letter is there as any other" do
    name, identity = File.read("/proc/self/comm").chomp, Processes.identity(Process.pid)
    File.write("/proc/self/comm", "обработчик") # the kernel keeps 15 bytes
    refute_predicate File.read("/proc/self/comm", encoding: Encoding::UTF_8), :valid_encoding?
    assert Processes.alive?(Process.pid)
    assert_equal identity, Processes.identity(Process.pid)
  ensure
    File.write("/proc/self/comm", name)
  end

  test "a process whose name looks like what the kernel tells behind it is there under its own identity" do
    name, identity = File.read("/proc/self/comm").chomp, Processes.identity(Process.pid)
    File.write("/proc/self/comm", "a) Z 1\n(b")
    assert Processes.alive?(Process.pid)
    assert_equal identity, Processes.identity(Process.pid)
    assert_equal Process.ppid.to_s, Processes.stat(Process.pid)[1]
    assert_empty Processes.stat(Process.pid, proc: "/nowhere")
  ensure
    File.write("/proc/self/comm", name)
  end

  test "any bytes are UTF-8 as text, and stay what they were" do
    bytes = "caf\u00E9\xFF".b.freeze
    assert_equal ["caf\u00E9\uFFFD", Encoding::BINARY], [Processes.text(bytes), bytes.encoding]
  end

  test "cores that a machine could have are none that a process may use" do
    assert_equal [0, 1, 2, 3], Processes.online_among("0-127", "0-3\n")
    assert_equal [2, 8], Processes.online_among("2,8-9", "0-3,8\n")
    assert_equal [4, 5], Processes.online_among("4-5", ""), "nobody tells"
    assert_equal [4, 5], Processes.online_among("4-5", "0-1\n"), "numbered anew"
    assert_empty Processes.online_among(nil, "0-1\n")
  end

  test "a process is there under its own identity, and not under that of one that had its id before" do
    own = Processes.identity(Process.pid)
    assert Processes.there?(own)
    refute Processes.there?(own.sub("-", "-1"))
    pid = Process.spawn("sleep 60")
    ended = Processes.identity(pid)
    assert Processes.there?(ended)
    Process.kill(:KILL, pid)
    Process.wait(pid)
    refute Processes.there?(ended)
  end
end
