# frozen_string_literal: true

require "json"
require "socket"
require "time"
require "uri"

# A server that answers like Prometheus what a test tells it to, good or bad.
class FakePrometheus
  # path: below /api/v1; parameters: of the query, by name
  Request = Data.define(:path, :parameters, :headers)

  # @yieldparam fake [FakePrometheus]
  def self.open(...)
    fake = new(...)
    yield fake
  ensure
    fake&.close
  end

  attr_reader :requests

  # @param answer [#call] of a Request: the response's `data`; or status and body; nil: hangs up
  # @param date [Time, nil] its clock
  def initialize(answer, date: nil)
    @date = date
    @answer = answer
    @requests = []
    @listener = TCPServer.new("127.0.0.1", 0)
    @thread = Thread.new { loop { serve(@listener.accept) } }
    @thread.report_on_exception = true
  end

  # @return [String]
  def url = "http://127.0.0.1:#{@listener.addr[1]}"

  def close
    @thread.kill
    @listener.close
  end

  private

  def serve(client)
    method, target = client.gets.to_s.split
    headers = {}
    while (line = client.gets) && line != "\r\n"
      name, value = line.chomp.split(": ", 2)
      headers[name.downcase] = value
    end
    body = (method == "POST") ? client.read(headers["content-length"].to_i) : target[/\?(.*)/, 1].to_s
    request = Request.new(path: target[%r{/api/v1/([^?]*)}, 1], parameters: URI.decode_www_form(body).to_h, headers:)
    @requests << request
    respond(client, @answer.call(request))
  ensure
    client&.close
  end

  def respond(client, answer)
    return if answer.nil?
    status, text = (answer.is_a?(Array) && answer.first.is_a?(Integer)) ? answer : [200, JSON.generate({status: "success", data: answer})]
    client.write("HTTP/1.1 #{status} X\r\nDate: #{(@date || Time.now).httpdate}\r\nContent-Length: #{text.bytesize}\r\nConnection: close\r\n\r\n#{text}")
  rescue Errno::EPIPE, Errno::ECONNRESET
    nil
  end
end
