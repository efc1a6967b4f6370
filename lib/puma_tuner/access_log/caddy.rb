# frozen_string_literal: true

module PumaTuner
  module AccessLog
    # Caddy's access log, which is JSON:
    #
    #   {"level":"info","ts":1791640536.123,"logger":"http.log.access","msg":"handled request",
    #    "request":{"method":"GET","host":"www.example.com","uri":"/articles/42?q=a",…},"duration":0.0123,"size":2326,
    #    "status":200,…}
    #
    # The instant is that of the response, and the time goes on until the client has it.
    module Caddy
      extend OneLine

      LINE = /\{.*"request":\s*\{.*\}/

      # A fraction. By another duration_format they are texts, or whole numbers of milliseconds or nanoseconds.
      TOOK_S = (0.0...100_000.0)

      RESOLUTION_NS = Units::NS_PER_S
      TIME_RESOLUTION_NS = Units::NS_PER_US

      def self.read(line)
        json = JSON.parse(line[LINE] || return)
        http_method, target = json["request"].values_at("method", "uri") if json["request"].is_a?(Hash)
        status, at_ns = json["status"].to_s, Nginx.at_ns(json)
        # It is 0 where nothing was answered.
        return unless [http_method, target].all?(String) && at_ns && Lograge::STATUS.match?(status)
        took_s = json["duration"]
        client_ns = (took_s * Units::NS_PER_S).round if took_s.is_a?(Float) && TOOK_S.cover?(took_s)
        Entry.new(at_ns:, http_method:, target:, status: status.to_i, client_ns:, lead_ns: client_ns || 0)
      end
      private_class_method :read
    end
  end
end
