# frozen_string_literal: true

require "net/http"
require "socket"
require_relative "lab"

# The collector, or its page, on a real Puma as a user starts it; in a process group of its own, of which nothing is left.
class CollectorServer
  BOOT_LIMIT_S = 30

  attr_reader :pid, :port

  # @param options [Array<String>] for Puma
  # @param out [String, IO] where its standard output goes
  # @param environment [Hash]
  def self.run(*options, out:, rackup: "config.ru", **environment)
    server = new(*options, out:, rackup:, **environment)
    yield server
  ensure
    server&.clear_up
  end

  def initialize(*options, out:, rackup:, **environment)
    @log, log = IO.pipe
    @pid = Process.spawn(CspLab.environment(**environment), RbConfig.ruby, "-rbundler/setup", "-S", "puma", "-C", "#{CspLab::FOLDER}/puma.rb",
      "-b", "tcp://127.0.0.1:0", *options, "#{CspLab::FOLDER}/#{rackup}", in: File::NULL, out:, err: log, pgroup: true, unsetenv_others: true)
    log.close
    @lines = []
    @reading = Thread.new { @log.each_line { |line| @lines << line } }
    await_boot(options.include?("-w") ? options[options.index("-w") + 1].to_i : 0)
  end

  # @return [String] its standard error so far
  def log = @lines.join

  # @return [Array<Hash>] its lines about what it refused
  def refusals = @lines.map { |line| JSON.parse(line) }.select { |line| line["event"] == "refused" }

  # @return [Net::HTTPResponse]
  def post(body, type: "application/csp-report", http: nil, **headers)
    request = Net::HTTP::Post.new("/reports", {"content-type" => type, **headers.transform_keys(&:to_s)})
    request.body = body.is_a?(String) ? body : JSON.generate(body)
    http ? http.request(request) : connect { |one| one.request(request) }
  end

  # A kept-alive connection.
  def connect(&) = Net::HTTP.start("127.0.0.1", port, read_timeout: 20, max_retries: 0, &)

  def get(path) = Net::HTTP.get_response("127.0.0.1", path, port)

  # @param text [String] as it goes over the wire
  # @return [String] what comes back until the connection ends
  def raw(text)
    TCPSocket.open("127.0.0.1", port) do |socket|
      begin
        socket.write(text)
        yield socket if block_given?
      rescue Errno::ECONNRESET, Errno::EPIPE
        # It has ended; what was sent before that can be read.
      end
      received(socket)
    end
  end

  # All of its processes.
  def kill
    Process.kill(:KILL, -pid)
  rescue Errno::ESRCH
    nil
  end

  def ended? = @ended ||= !Process.waitpid(pid, Process::WNOHANG).nil?

  def clear_up
    kill
    sleep 0.01 until ended?
    @reading.join
    @log.close
  end

  private

  # A server that closes before it has read all resets the connection, be it after a whole response.
  def received(socket)
    text = +""
    loop { text << socket.readpartial(4096) }
  rescue EOFError, Errno::ECONNRESET
    text
  end

  def await_boot(workers_count)
    deadline_s = now_s + BOOT_LIMIT_S
    until (@port = log[/Listening on http:\/\/127\.0\.0\.1:(\d+)/, 1]&.to_i) && log.include?("Use Ctrl-C") && log.scan(/Worker \d+ \(PID: \d+\) booted/).size == workers_count
      raise "the collector did not boot:\n#{log}" if ended? || now_s > deadline_s
      sleep 0.01
    end
  end

  def now_s = Process.clock_gettime(Process::CLOCK_MONOTONIC)
end
