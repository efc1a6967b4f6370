# frozen_string_literal: true

require "digest"
require "json"
require "securerandom"

module PumaTuner
  module Top
    # The same as a page, which this process serves to browsers of this machine: no thread of the app's server has to
    # do with it, and no setting of that can be changed through it. One thing can be ordered: that the server record
    # its threads for two seconds (LaneRecorder), for which each of its processes keeps 2 MiB from then on. It listens
    # on the loopback, or at a socket that its owner alone can open; whoever asks must know the token that stands in the
    # path, and must have called it by a name of this machine, so that no page from elsewhere can ask under a name of
    # its own (DNS rebinding).
    class Web
      LIMIT_S = 5

      # Browsers that look at a time; others are told to wait.
      CLIENTS_MAX = 16

      # A comment is sent so often, by which a browser that has gone is noticed.
      BEAT_S = 15

      LOOPBACK = %w[127.0.0.1 localhost ::1].freeze

      # With style and script of the report's lanes.
      ASSETS = Report::Html::Page::ASSETS
      FILES = {"" => ["web/page.html", "text/html"], "page.css" => ["web/page.css", "text/css"],
               "page.js" => ["web/page.js", "text/javascript"], "lanes.css" => ["#{ASSETS}/lanes.css", "text/css"],
               "lanes.js" => ["#{ASSETS}/lanes.js", "text/javascript"]}.freeze

      # What is made when somebody asks.
      MADE = %w[events lanes].freeze

      HEADERS = {
        "Content-Security-Policy" => "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " \
          "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        "X-Content-Type-Options" => "nosniff", "Referrer-Policy" => "no-referrer", "Cache-Control" => "no-store",
        "Cross-Origin-Resource-Policy" => "same-origin", "Cross-Origin-Opener-Policy" => "same-origin"
      }.freeze

      # @param text [String] "tcp://127.0.0.1:0", "unix:///path/of/socket"
      # @return [Export::Address]
      # @raise [UsageError] for any that others can reach
      def self.address(text)
        address = Export::Address.parse(text)
        return address if address.kind == "unix" || LOOPBACK.include?(address.host_or_path)
        raise UsageError, "#{text} could be reached by others; write tcp://127.0.0.1:PORT or " \
          "unix:///path/of/socket, and reach it from elsewhere by `ssh -L`"
      end

      # @param address [Export::Address]
      # @param lanes [#call] answers a Lanes::Recording, or raises MeasurementFailed
      # @param token [String]
      # @raise [UsageError] where it can't listen
      def initialize(address, lanes:, token: SecureRandom.urlsafe_base64(24))
        @address = address
        @lanes = lanes
        @token = token
        @listener = address.listen
        @lock = Mutex.new
        @told = ConditionVariable.new
        @history = []
        @clients_count = @number = 0
      rescue SystemCallError, SocketError, ArgumentError => error # the last, of a socket's path that is too long
        raise UsageError, "can't listen at #{address}: #{error.message}. Give another address."
      end

      # @return [String] to be opened in a browser; for a socket, the path below whatever leads there
      def url
        return "#{@address}, path /#{@token}/" if @address.kind == "unix"
        host = @address.host_or_path.include?(":") ? "[#{@address.host_or_path}]" : @address.host_or_path
        "http://#{host}:#{@listener.local_address.ip_port}/#{@token}/"
      end

      # @return [void]
      def start
        @thread = Thread.new { accept }
        @thread.name = "puma_tuner top's page"
      end

      # @param status [Status]
      # @return [void]
      def publish(status)
        @lock.synchronize do
          @history = [*@history, WebEvent.point(status)].last(WebEvent::HISTORY_MAX)
          @event = JSON.generate({**WebEvent.of(status), point: @history.last})
          @topology = status.topology
          @number += 1
          @told.broadcast
        end
      end

      # Tells all that look that there is no more to come.
      # @return [void]
      def finish
        @lock.synchronize do
          @finished = true
          @told.broadcast
        end
        deadline_s = Clock.now_s + FINISH_S
        sleep(FINISH_S / 10) until @lock.synchronize { @clients_count.zero? } || Clock.now_s > deadline_s
      end

      # @return [void]
      def stop
        @thread&.kill&.join
        @listener.close
        File.unlink(@address.host_or_path) if @address.kind == "unix"
      rescue Errno::ENOENT
        nil
      end

      private

      FINISH_S = 0.5
      private_constant :FINISH_S

      def accept
        loop do
          client = @listener.accept
          Thread.new { serve(client) }.report_on_exception = false
        rescue SystemCallError
          sleep(0.1) # such as too many open files
        end
      end

      def serve(client)
        method, path, host = head(client)
        return unless method
        return refuse(client, "403 Forbidden", "Call this machine by 127.0.0.1 or localhost.") unless ours?(host)
        name = asked(path) or return refuse(client, "404 Not Found", "Open the address that was printed, all of it.")
        return send(name, client) if MADE.include?(name) && method == "GET"
        return file(client, name, method == "GET") if FILES.key?(name) && %w[GET HEAD].include?(method)
        refuse(client, "405 Method Not Allowed", "There is nothing to change here.")
      rescue SystemCallError, IOError
        nil # it has gone
      ensure
        client.close
      end

      # @return [Array(String, String, String), nil] method, path and host; nil when no whole head came in time
      def head(client)
        text = Export::HttpSocket.head(client, LIMIT_S) or return
        method, path = text.lines.first.split(" ", 3)
        [method, path.to_s, text[/^host:[ \t]*([^\r\n]*)/i, 1].to_s.strip]
      end

      # Any port, as a tunnel may have another.
      def ours?(host) = LOOPBACK.include?(host.sub(/:\d+\z/, "").delete("[]"))

      # @return [String, nil] what stands behind the token; nil without it. Both are compared as digests, whose
      #   comparison tells nothing by its time.
      def asked(path)
        token, name = path.delete_prefix("/").split("/", 2)
        return unless token && name
        same = Digest::SHA256.digest(token) == Digest::SHA256.digest(@token)
        name if same && (FILES.key?(name) || MADE.include?(name))
      end

      def file(client, name, with_body)
        path, type = FILES.fetch(name)
        body = File.binread(File.expand_path(path, __dir__))
        respond(client, "200 OK", body, type:, with_body:)
      end

      def refuse(client, status, text) = respond(client, status, "#{text}\n", type: "text/plain", more: allow(status))

      def allow(status) = status.start_with?("405") ? {"Allow" => "GET, HEAD"} : {}

      def respond(client, status, body, type:, with_body: true, more: {})
        write(client, headers(status, type, "Content-Length" => body.bytesize, "Connection" => "close", **more) +
          (with_body ? body.b : ""))
      end

      def headers(status, type, **more)
        lines = {"Content-Type" => "#{type}; charset=utf-8", **HEADERS, **more}
        "HTTP/1.1 #{status}\r\n#{lines.map { |name, value| "#{name}: #{value}\r\n" }.join}\r\n".b
      end

      # Threads over time, recorded now: a piece of the page, in which nothing of the app's is markup.
      def lanes(client)
        recording = @lanes.call.with(topology: @lock.synchronize { @topology })
        comparison = PumaTuner::Lanes::Comparison.new(recordings: [recording].freeze)
        html = Report.section_html(Report::Sections::Lanes.new(comparison).section)
        respond(client, "200 OK", html, type: "text/html")
      rescue MeasurementFailed => error
        refuse(client, "503 Service Unavailable", "Nothing was recorded: #{error.message}.")
      end

      # Server-sent events: first what there was, then each status as it comes.
      def events(client)
        place = @lock.synchronize { @clients_count += 1 if @clients_count < CLIENTS_MAX }
        return refuse(client, "503 Service Unavailable", "#{CLIENTS_MAX} browsers look already.") unless place
        write(client, headers("200 OK", "text/event-stream", "Connection" => "close"))
        follow(client)
      ensure
        @lock.synchronize { @clients_count -= 1 } if place
      end

      def follow(client)
        history, seen = @lock.synchronize { [@history.dup, 0] }
        write(client, event("history", JSON.generate({parts: WebEvent.parts, points: history})))
        loop do
          number, text, finished = @lock.synchronize do
            @told.wait(@lock, BEAT_S) if @number == seen && !@finished
            [@number, @event, @finished]
          end
          write(client, (number == seen) ? ": still there\n\n" : event("status", text))
          return write(client, event("ended", "{}")) if finished
          seen = number
        end
      end

      def event(name, text) = "event: #{name}\ndata: #{text}\n\n".b

      # A browser that does not read is dropped.
      def write(client, bytes)
        Export::HttpSocket.write(client, bytes, LIMIT_S) or raise IOError, "nobody reads"
      end
    end
  end
end
