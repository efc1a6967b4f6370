# frozen_string_literal: true

module PumaTuner
  module AccessLog
    # Heroku's router, by `heroku logs` or a drain:
    #
    #   2026-10-10T13:55:36.123456+00:00 heroku[router]: at=info method=GET path="/articles/42?q=a" host=www.example.com
    #   request_id=9d6b fwd="192.0.2.1" dyno=web.1 connect=1ms service=18ms status=200 bytes=2326 protocol=https
    #
    # The instant is that of the response. "service" goes on until the client has it (Heroku's "HTTP routing").
    module Heroku
      extend OneLine

      # Before the dyno stand an id and addresses: without a bound, a line of many beginnings is gone through as often.
      LINE = /\bmethod=([A-Z]+)[ ]path="?([^" ]+)"?[ ]host=\S*[ ].{0,2000}?\bdyno=(\S*)[ ]
        connect=(?:(\d{1,9})ms)?[ ]service=(?:(\d{1,9})ms)?[ ]status=(\d{3})\b/x

      # Where it has no fraction of a second; those that have one hardly ever have .000.
      RESOLUTION_NS = Units::NS_PER_S
      TIME_RESOLUTION_NS = Units::NS_PER_MS

      def self.read(line)
        match = LINE.match(line) or return
        instant = match.pre_match[INSTANT] or return
        http_method, target, dyno, connect_ms, service_ms, status = match.captures
        client_ns = (connect_ms.to_i + service_ms.to_i) * Units::NS_PER_MS if service_ms
        Entry.new(at_ns: AccessLog.instant_ns(instant), http_method:, target:, status: status.to_i, client_ns:,
          lead_ns: client_ns || 0, passed_on: !dyno.empty?)
      end
      private_class_method :read
    end
  end
end
