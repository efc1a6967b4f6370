# frozen_string_literal: true

module PumaTuner
  module Export
    # Answers `GET /metrics` and nothing else, one client after the other. A client that sends nothing, or too much, is
    # dropped: it could only keep others from our figures.
    class HttpServer
      HEAD_BYTES_MAX = 8_192
      LIMIT_S = 2

      # It pauses after an accept that failed, as with too many open files: a loop without a pause would take a core.
      PAUSE_S = 1

      # @param listener [TCPServer, UNIXServer]
      # @param server [Server]
      def initialize(listener, server)
        @listener = listener
        @server = server
      end

      # Waits for a client, and answers it. What goes wrong is told once, and does not harm the next response.
      # @return [void]
      def serve
        client = @listener.accept
        answer(client)
      rescue SystemCallError, IOError
        sleep(PAUSE_S) unless client
      rescue => error
        Probe.say("the exporter could not answer (#{error.class}: #{error.message}); please report this") unless @told
        @told = true
      ensure
        client&.close
      end

      private

      def answer(client)
        method, path = head(client).to_s.split(" ", 3)
        return write(client, "400 Bad Request", "this is HTTP, and wants GET /metrics\n") unless path&.start_with?("/")
        return write(client, "405 Method Not Allowed", "GET /metrics\n") unless %w[GET HEAD].include?(method)
        return write(client, "404 Not Found", "GET /metrics\n") unless path[/\A[^?]*/] == "/metrics"
        write(client, "200 OK", @server.text, type: Text::CONTENT_TYPE, with_body: method == "GET")
      end

      # @return [String, nil] its first line; nil when no whole head came in time
      def head(client)
        deadline_s = Clock.now_s + LIMIT_S
        text = +""
        until text.include?("\r\n\r\n")
          left_s = deadline_s - Clock.now_s
          return if left_s <= 0 || text.bytesize > HEAD_BYTES_MAX || !client.wait_readable(left_s)
          part = client.read_nonblock(HEAD_BYTES_MAX, exception: false)
          return if part.nil?
          text << part if part.is_a?(String)
        end
        text.lines.first
      end

      # A client that stops reading is dropped, too.
      def write(client, status, body, type: "text/plain; charset=utf-8", with_body: true)
        left = "HTTP/1.1 #{status}\r\nContent-Type: #{type}\r\nContent-Length: " \
          "#{body.bytesize}\r\nConnection: close\r\n\r\n".b
        left << body.b if with_body
        deadline_s = Clock.now_s + LIMIT_S
        until left.empty?
          written = client.write_nonblock(left, exception: false)
          next left = left.byteslice(written..) if written.is_a?(Integer)
          return if Clock.now_s > deadline_s || !client.wait_writable(deadline_s - Clock.now_s)
        end
      end
    end
  end
end
