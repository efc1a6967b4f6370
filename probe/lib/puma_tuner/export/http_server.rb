# frozen_string_literal: true

module PumaTuner
  module Export
    # Answers `GET /metrics` and nothing else, one client after the other. A client that sends nothing, or too much, is
    # dropped: it could only keep others from our figures.
    class HttpServer
      LIMIT_S = 2

      # It pauses after an accept that failed, as with too many open files: a loop without a pause would take a core.
      PAUSE_S = 1

      # A shorter text fits into a few packets. Most of a longer one is names that come again and again, and a fleet's
      # texts cross networks at a price.
      LEAST_PACKED_BYTES = 4_096

      # In a request's head, as Prometheus and the agents that read its format have it.
      TAKES_GZIP = /^accept-encoding:[^\r\n]*\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i

      # For caches, of both forms of the text: who keeps one must not hand it to who takes the other.
      VARY = "Vary: Accept-Encoding\r\n"

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
        head = HttpSocket.head(client, LIMIT_S).to_s
        method, path = head.split(" ", 3)
        return write(client, "400 Bad Request", "this is HTTP, and wants GET /metrics\n") unless path&.start_with?("/")
        return write(client, "405 Method Not Allowed", "GET /metrics\n") unless %w[GET HEAD].include?(method)
        return write(client, "404 Not Found", "GET /metrics\n") unless path[/\A[^?]*/] == "/metrics"
        write(client, "200 OK", *packed(@server.text, head), type: Text::CONTENT_TYPE, with_body: method == "GET")
      end

      # The same text is packed once, however many ask for it.
      #
      # @param head [String] of the request
      # @return [Array(String, String)] the text, and lines for the response's head
      def packed(text, head)
        return [text, VARY] unless text.bytesize >= LEAST_PACKED_BYTES && head.match?(TAKES_GZIP)
        require "zlib"
        @packed = [text, Zlib.gzip(text, level: Zlib::BEST_SPEED)] unless @packed&.first.equal?(text)
        [@packed.last, "#{VARY}Content-Encoding: gzip\r\n"]
      rescue LoadError
        [text, VARY] # of a Ruby that was built without it
      end

      # A client that stops reading is dropped, too.
      def write(client, status, body, more = nil, type: "text/plain; charset=utf-8", with_body: true)
        response = "HTTP/1.1 #{status}\r\nContent-Type: #{type}\r\n#{more}Content-Length: " \
          "#{body.bytesize}\r\nConnection: close\r\n\r\n".b
        response << body.b if with_body
        HttpSocket.write(client, response, LIMIT_S)
      end
    end
  end
end
