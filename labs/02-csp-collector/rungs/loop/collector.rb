# frozen_string_literal: true

require "json"
require "nio"
require "puma/puma_http11"
require "socket"
require "time"
require_relative "answers"

# The same contract without a web server: one thread, one loop. Each turn takes what has arrived on all connections, writes
# the lines of all complete requests at once, and only then answers them.
#
# HTTP/1.1 as far as reports need it: kept connections, pipelining, Content-Length; no Transfer-Encoding (411).
class CspLoop
  include Answers

  BODY_BYTES = 64 * 1024
  HEAD_BYTES = 16 * 1024
  CONNECTIONS_COUNT = 4_096
  # From one complete request to the next.
  LIMIT_S = 20

  # buffer: what is no whole request yet, nil for nothing; length: of the body that is waited for, once its head is read; closing:
  # whether the connection ends with that request; answers: owed, after the lines; last: whether nothing more is read
  Client = Struct.new(:io, :monitor, :deadline_s, :buffer, :length, :closing, :answers, :last)

  # @param server [TCPServer]
  # @param out [IO] for the lines
  def initialize(server, out)
    @server = server
    @out = out
    @parser = Puma::HttpParser.new
    @selector = NIO::Selector.new
    @selector.register(server, :r)
    @clients = {}
    @owed = []
    @lines = String.new(capacity: 1024 * 1024)
    @chunk = String.new(capacity: HEAD_BYTES)
    @now_s = now_s
    @sweep_at_s = 0
  end

  def run_until_told
    %w[TERM INT].each { |name| trap(name) { @stopped = true } }
    turn until @stopped
    @clients.each_key(&:close)
  end

  private

  def turn
    @selector.select(0.5) { |monitor| (client = monitor.value) ? read(client) : accept }
    @now_s = now_s
    acknowledge unless @owed.empty?
    drop_idle if @now_s >= @sweep_at_s
  end

  def accept
    while (io = @server.accept_nonblock(exception: false)) != :wait_readable
      # More have to wait in the kernel's queue, or are turned away by it.
      return shed(io) if @clients.size >= CONNECTIONS_COUNT
      io.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
      monitor = @selector.register(io, :r)
      monitor.value = @clients[io] = Client.new(io, monitor, @now_s + LIMIT_S)
    end
  rescue Errno::ECONNABORTED
    nil
  end

  def shed(io)
    io.write_nonblock(FAILED, exception: false)
    io.close
  end

  def read(client)
    case client.io.read_nonblock(HEAD_BYTES, @chunk, exception: false)
    when :wait_readable then return
    when nil then return drop(client)
    end
    text = client.buffer ? client.buffer << @chunk : @chunk
    upto = take(client, text)
    # Most often a read brings just one request, and nothing has to be kept.
    client.buffer = (upto < text.bytesize && !client.last) ? text.byteslice(upto..) : nil
  rescue SystemCallError
    drop(client)
  end

  # Takes all whole requests.
  # @return [Integer] bytes that are done with
  def take(client, text)
    from = 0
    while (from < text.bytesize || client.length&.zero?) && !client.last
      from = head(client, text, from) || break unless client.length
      break if client.last || text.bytesize - from < client.length
      answer(client, report(text.byteslice(from, client.length)))
      from += client.length
      client.length = nil
    end
    from
  end

  # The parser works in place (names become capitals), so it gets whole heads only, each once.
  # @return [Integer, nil] where the body begins; nil when the head has not come yet
  def head(client, text, from)
    unless text.index("\r\n\r\n", from)
      refuse(client, TOO_LONG) if text.bytesize - from > HEAD_BYTES
      return
    end
    @parser.reset
    from += @parser.execute(env = {}, text, from)
    return refuse(client, NO_HTTP) unless @parser.finished?
    client.length = length_of(client, env) or return
    client.closing = env["HTTP_CONNECTION"]&.match?(/\bclose\b/i) || env["SERVER_PROTOCOL"] != "HTTP/1.1"
    client.io.write_nonblock("HTTP/1.1 100 Continue\r\n\r\n", exception: false) if env.key?("HTTP_EXPECT") && text.bytesize == from
    from
  rescue Puma::HttpParserError
    refuse(client, NO_HTTP)
  end

  # @return [Integer, nil] of the body; nil when the request is refused
  def length_of(client, env)
    return refuse(client, UNKNOWN) unless env["REQUEST_METHOD"] == "POST" && env["REQUEST_PATH"] == "/reports"
    length = env["CONTENT_LENGTH"]
    return refuse(client, NO_LENGTH) if length.nil? || env.key?("HTTP_TRANSFER_ENCODING")
    return refuse(client, NO_HTTP) unless length.match?(/\A\d+\z/)
    length = length.to_i
    (length > BODY_BYTES) ? refuse(client, TOO_LONG) : length
  end

  def refuse(client, answer)
    client.last = true
    owe(client, answer)
    nil
  end

  # The parser's verdict counts, and its result is thrown away: the bytes go on as they came.
  # @return [Boolean] whether it was a report
  def report(body)
    JSON.parse(body.force_encoding(Encoding::UTF_8))
    return false unless body.valid_encoding?
    # In valid JSON these stand between tokens only.
    body.tr!("\n\r", "  ") if body.include?("\n") || body.include?("\r")
    @lines << "{\"time\":\"" << now << "\",\"report\":" << body << "}\n"
    true
  rescue JSON::JSONError
    false
  end

  def now_s = Process.clock_gettime(Process::CLOCK_MONOTONIC)

  # Of a turn.
  def now = @time ||= Time.now.utc.iso8601(3)

  def answer(client, taken)
    client.last = client.closing
    return owe(client, taken ? CREATED_LAST : NO_HTTP) if client.last
    owe(client, taken ? CREATED : NOT_JSON)
  end

  def owe(client, answer)
    client.answers ? client.answers += answer : client.answers = answer
    @owed << client if @owed.last != client
  end

  # 201 says: the kernel has every byte.
  def acknowledge
    written = @lines.empty? || write
    @lines.clear
    @time = nil
    @owed.each { |client| deliver(client, written ? client.answers : FAILED) }
    @owed.clear
  end

  def write
    text = @lines
    text = text.byteslice(@out.syswrite(text)..) until text.empty?
    true
  rescue SystemCallError
    false
  end

  # A client that does not even take these few bytes has stopped reading.
  def deliver(client, text)
    client.answers = nil
    sent = client.io.write_nonblock(text, exception: false)
    return drop(client) if client.last || sent != text.bytesize || text.equal?(FAILED)
    client.deadline_s = @now_s + LIMIT_S
  rescue SystemCallError, IOError
    drop(client)
  end

  def drop_idle
    @sweep_at_s = @now_s + 1
    @clients.each_value.select { |client| client.deadline_s < @now_s }.each { |client| drop(client) }
  end

  def drop(client)
    return unless @clients.delete(client.io)
    @selector.deregister(client.io)
    client.io.close
  end
end

# PORT
if $PROGRAM_NAME == __FILE__
  server = TCPServer.new("127.0.0.1", Integer(ARGV.fetch(0))).tap { |socket| socket.listen(1_024) }
  CspLoop.new(server, $stdout).run_until_told
end
