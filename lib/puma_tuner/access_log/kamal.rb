# frozen_string_literal: true

module PumaTuner
  module AccessLog
    # Kamal's proxy, and Thruster, which stands in the same container as Puma: JSON, with names of its own.
    #
    #   {"time":"2026-10-10T13:55:36.123Z","msg":"Request","path":"/articles/42","status":200,"target":"0a1b:80",
    #    "duration":30251374,"method":"GET","req_content_length":0,…,"resp_content_length":2326,…,"query":"q=a"}
    #
    # The instant is that of the response, and the time goes on until the client has it: "duration" in nanoseconds by
    # the proxy, "dur" in milliseconds by Thruster.
    module Kamal
      extend OneLine

      # No other log has it.
      KEY = "resp_content_length"
      LINE = /\{.*"#{KEY}":.*\}/

      RESOLUTION_NS = Units::NS_PER_S
      TIME_RESOLUTION_NS = Units::NS_PER_MS

      # Anything else is no time of a response.
      TOOK_NS = (0..10**18)

      # The path is written decoded: what can't stand in one, or would end it.
      NOT_IN_PATH = /[^!-~]|[%?#]/n

      def self.read(line)
        json = JSON.parse(line[LINE] || return)
        http_method, path, query = json.values_at("method", "path", "query")
        status, client_ns = json["status"], took_ns(json)
        return unless [http_method, path].all?(String) && status.is_a?(Integer) && client_ns
        at = Time.iso8601(json["time"].to_s)
        Entry.new(at_ns: AccessLog.epoch_ns(at), http_method:, target: target(path, query), status:,
          client_ns:, lead_ns: client_ns, passed_on: json["target"] != "" && json["cache"] != "hit")
      end

      def self.took_ns(json)
        nanoseconds, milliseconds = json.values_at("duration", "dur")
        nanoseconds ||= milliseconds.is_a?(Integer) ? milliseconds * Units::NS_PER_MS : nil
        nanoseconds if nanoseconds.is_a?(Integer) && TOOK_NS.cover?(nanoseconds)
      end

      def self.target(path, query)
        written = path.b.gsub(NOT_IN_PATH) { |byte| format("%%%02X", byte.ord) }.force_encoding(Encoding::UTF_8)
        query.to_s.empty? ? written : "#{written}?#{query}"
      end
      private_class_method :read, :took_ns, :target
    end
  end
end
