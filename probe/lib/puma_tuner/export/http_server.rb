# frozen_string_literal: true

module PumaTuner
  module Export
    # Answers `GET /metrics` and nothing else, one client after the other, from a thread of its own. A client that sends nothing, or
    # too much, is dropped: it could only keep others from our figures, never requests from the app.
    class HttpServer
      HEAD_BYTES_MAX = 8_192
      LIMIT_S = 2

      # After an accept that failed, as with too many open files: a loop without it would take a core.
      PAUSE_S = 1

      # @param address [Address]
      # @param format [#call] families and the labels of all, to text
      # @param server [Server]
      def initialize(address, format, server)
        @address = address
        @format = format
        @server = server
        @pid = Process.pid
      end

      # @raise [SystemCallError] when the address is taken
      def start
        @listener = @address.listen
        @listener.close_on_exec = true
        remove_at_exit if @address.kind == "unix"
        Thread.new { loop { serve } }.name = "puma_tuner exporter"
      end

      # A worker that is forked has the listener, too, and would keep the address from the next server.
      def forked
        @listener&.close if Process.pid != @pid
      end

      private

      def remove_at_exit
        path = @address.host_or_path
        at_exit { File.unlink(path) if Process.pid == @pid && File.socket?(path) }
      end

      def serve
        client = @listener.accept
        answer(client)
      rescue SystemCallError, IOError
        sleep(PAUSE_S) unless client
      rescue => error
        Probe.fault("the exporter could not answer", error)
      ensure
        client&.close
      end

      def answer(client)
        method, path = head(client).to_s.split(" ", 3)
        return write(client, "400 Bad Request", "this is HTTP, and wants GET /metrics\n") unless path&.start_with?("/")
        return write(client, "405 Method Not Allowed", "GET /metrics\n") unless %w[GET HEAD].include?(method)
        return write(client, "404 Not Found", "GET /metrics\n") unless path[/\A[^?]*/] == "/metrics"
        body = @server.text(@format)
        write(client, "200 OK", (method == "HEAD") ? "" : body, type: Text::CONTENT_TYPE)
      end

      # @return [String, nil] its first line; nil when no whole head came in time
      def head(client)
        deadline_s = now_s + LIMIT_S
        text = +""
        until text.include?("\r\n\r\n")
          left_s = deadline_s - now_s
          return if left_s <= 0 || text.bytesize > HEAD_BYTES_MAX || !client.wait_readable(left_s)
          part = client.read_nonblock(HEAD_BYTES_MAX, exception: false)
          return if part.nil?
          text << part if part.is_a?(String)
        end
        text.lines.first
      end

      # A client that stops reading is dropped, too.
      def write(client, status, body, type: "text/plain; charset=utf-8")
        left = "HTTP/1.1 #{status}\r\nContent-Type: #{type}\r\nContent-Length: #{body.bytesize}\r\nConnection: close\r\n\r\n".b << body.b
        deadline_s = now_s + LIMIT_S
        until left.empty?
          written = client.write_nonblock(left, exception: false)
          next left = left.byteslice(written..) if written.is_a?(Integer)
          return if now_s > deadline_s || !client.wait_writable(deadline_s - now_s)
        end
      end

      def now_s = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end
end
