# frozen_string_literal: true

module PumaTuner
  module AccessLog
    # nginx, where its log_format writes JSON, by the names of its variables:
    #
    #   {"time":"2026-10-10T13:55:36+00:00","request":"GET /articles/42?q=a HTTP/1.1","status":"200",
    #    "request_time":"0.012","upstream_response_time":"0.010"}
    #
    # People may name the instant otherwise, write method and path apart, and put all into a field of its own. The
    # instant is that of the response.
    module Nginx
      extend OneLine

      LINE = /\{.*"(?:request|request_uri|request_time|upstream_response_time)":.*\}/
      REQUEST = %r{\A([A-Z]+) (\S+)(?: HTTP/[\d.]+)?\z}

      # By what people call it; $uri has no query, which is apart.
      METHODS = %w[request_method method].freeze
      TARGETS = %w[request_uri uri path].freeze
      QUERIES = %w[args query_string].freeze
      INSTANTS = ["time_iso8601", "time_local", "msec", *Lograge::INSTANT_KEYS].freeze

      # A day and more is no time of a response.
      TOOK_S = (0...100_000)
      EPOCH_S = /\A\d{9,11}(?:\.\d{1,9})?\z/

      # Of $msec, it is finer; most write whole seconds.
      RESOLUTION_NS = Units::NS_PER_S
      TIME_RESOLUTION_NS = Units::NS_PER_MS

      def self.read(line)
        json = JSON.parse(line[LINE] || return)
        json = json.values.grep(Hash).reduce(json, :merge)
        http_method, target = asked(json)
        status, at_ns = json["status"].to_s, at_ns(json)
        return unless http_method && target && at_ns && Lograge::STATUS.match?(status)
        app_ns, client_ns = json.values_at("upstream_response_time", "request_time").map { |value| took_ns(value) }
        Entry.new(at_ns:, http_method:, target:, status: status.to_i, app_ns:, client_ns:,
          lead_ns: client_ns || app_ns || 0, passed_on: !app_ns.nil? || !json.key?("upstream_response_time"))
      end

      # Of Caddy's log, "request" is no line.
      def self.asked(json)
        return (REQUEST.match(json["request"]) if json["request"].is_a?(String))&.captures if json.key?("request")
        texts = [METHODS, TARGETS, QUERIES].map { |names| json.values_at(*names).grep(String) }
        http_method, target, query = texts.map(&:first)
        [http_method, (target && query && !query.empty? && !target.include?("?")) ? "#{target}?#{query}" : target]
      end

      # @param json [Hash{String => Object}]
      # @return [Integer, nil] nanoseconds since the epoch, of the first field that has an instant
      def self.at_ns(json)
        json.values_at(*INSTANTS).compact.each do |value|
          text = value.to_s
          return AccessLog.ns_of(text) if EPOCH_S.match?(text)
          return Combined.at_ns(text) if Combined::TIME_LOCAL.match?(text)
          return AccessLog.instant_ns(text) if WHOLE_INSTANT.match?(text)
        end
        nil
      end

      # A number has lost the zeros at its end.
      def self.took_ns(value)
        case value
        when TOOK_S then (value * Units::NS_PER_S).round
        when String then Combined.sum_ns(value)
        end
      end
      private_class_method :read, :asked, :took_ns
    end
  end
end
