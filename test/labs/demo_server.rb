# frozen_string_literal: true

require "net/http"

# The demo application on a real Puma, as a user starts it; in a process group of its own, of which nothing is left.
class DemoServer
  LAB = File.expand_path("../../labs/05-threads-against-io", __dir__)
  BOOT_LIMIT_S = 60

  attr_reader :pid, :output

  # Runs the block with a server that serves, and stops it whatever happens.
  # @param options [Array<String>] for puma
  # @param environment [Hash]
  def self.run(*options, **environment)
    server = new(*options, **environment)
    server.await_boot
    yield server
  ensure
    server&.clear_up
  end

  def initialize(*options, **environment)
    @reader, writer = IO.pipe
    @output = +""
    @pid = Process.spawn(environment.transform_keys(&:to_s), "bundle", "exec", "puma", "-b", "tcp://127.0.0.1:0", *options,
      File.join(LAB, "config.ru"), in: File::NULL, out: writer, err: writer, pgroup: true)
    writer.close
    @workers_count = options.include?("-w") ? options[options.index("-w") + 1].to_i : 0
    @reading = Thread.new { @reader.each_line { |line| @output << line } }
  end

  # @return [Boolean] false when it ended instead
  def await_boot
    deadline_s = now_s + BOOT_LIMIT_S
    until booted?
      return false if ended?
      raise "the demo did not boot within #{BOOT_LIMIT_S} s:\n#{output}" if now_s > deadline_s
      sleep 0.02
    end
    true
  end

  # @return [Net::HTTPResponse]
  def get(path) = Net::HTTP.get_response("127.0.0.1", path, port)

  # @return [Float] milliseconds from asking with all clients at once to the last response
  def wall_ms(path, clients_count)
    began_s = now_s
    Array.new(clients_count) { Thread.new { get(path) } }.each(&:join)
    (now_s - began_s) * 1_000
  end

  # @return [Hash{Integer => String}] the server's children: pid to command line
  def children = self.class.children_of(pid)

  def self.children_of(pid)
    Dir["/proc/#{pid}/task/*/children"].flat_map { |path| read(path).split.map(&:to_i) }
      .to_h { |child| [child, read("/proc/#{child}/cmdline").tr("\0", " ").strip] }
  end

  # @return [Integer] the process that the app waits for
  def companion_pid
    found = children.select { |_, command_line| command_line.start_with?("demo ") }.keys
    raise "wanted is one companion, there are #{found.size}: #{children}" unless found.one?
    found.first
  end

  # @param signal [Symbol]
  def stop(signal)
    Process.kill(signal, pid)
    sleep 0.01 until ended?
  end

  def clear_up
    Process.kill(:KILL, -pid)
  rescue Errno::ESRCH
    nil
  ensure
    sleep 0.01 until ended?
    @reading.join
    @reader.close
  end

  def self.alive?(pid) = read("/proc/#{pid}/stat")[/\) (\S)/, 1].then { |state| !state.nil? && state != "Z" }

  def self.read(path)
    File.read(path)
  rescue SystemCallError
    ""
  end

  private

  def port = output[/Listening on http:\/\/127\.0\.0\.1:(\d+)/, 1]&.to_i

  def booted? = port && output.scan(/Worker \d+ \(PID: \d+\) booted/).size == @workers_count

  def ended? = @ended ||= !Process.waitpid(pid, Process::WNOHANG).nil?

  def now_s = Process.clock_gettime(Process::CLOCK_MONOTONIC)
end
