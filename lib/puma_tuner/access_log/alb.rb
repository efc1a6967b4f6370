# frozen_string_literal: true

module PumaTuner
  module AccessLog
    # Amazon's application load balancer:
    #
    #   https 2026-10-10T13:55:36.123456Z app/my-lb/50dc 192.0.2.1:2817 10.0.0.1:80 0.000 0.001 0.000 200 200 34 366
    #     "GET https://www.example.com:443/articles/42?q=a HTTP/2.0" "curl/8.5" …
    #
    # The instant is that of the response; the three times before the status lead back to the request.
    module Alb
      extend OneLine

      LINE = %r{\A(?:https?|h2|grpcs?|wss?)[ ](\S+Z)[ ]\S+[ ]\S+[ ]\S+[ ]
        (-?[\d.]+)[ ](-?[\d.]+)[ ](-?[\d.]+)[ ](\d{3}|-)[ ]\S+[ ]\S+[ ]\S+[ ]"([A-Z]+)[ ]\w+://[^/ ]+(/\S*)[ ]}x

      RESOLUTION_NS = Units::NS_PER_US

      # Of the times that requests took.
      TIME_RESOLUTION_NS = Units::NS_PER_MS

      def self.read(line)
        match = LINE.match(line) or return
        instant, *durations, status, http_method, target = match.captures
        at = Time.iso8601(instant)
        took_ns = durations.map { |text| AccessLog.ns_of(text) }
        # -1: nothing was sent to a target, or it did not respond.
        sent = took_ns.none?(&:negative?)
        took_ns = took_ns.map { |ns| ns.clamp(0, nil) }
        Entry.new(at_ns: AccessLog.epoch_ns(at) - took_ns.sum, http_method:, target:,
          status: (status.to_i unless status == "-"),
          app_ns: (took_ns[1] if sent), client_ns: (took_ns.sum if sent), passed_on: sent)
      end
      private_class_method :read
    end
  end
end
