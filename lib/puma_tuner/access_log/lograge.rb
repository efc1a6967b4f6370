# frozen_string_literal: true

module PumaTuner
  module AccessLog
    # One line for each request of a Rails app, by the gem lograge, as words or as JSON:
    #
    #   I, [2026-10-10T13:55:36.123456 #17]  INFO -- : [9d6b…] method=GET path=/articles/42 format=html
    #   controller=ArticlesController action=show status=200 duration=12.34 view=5.60 db=1.20
    #
    # Between status and duration stand how many objects were allocated, and the error of a request that failed, which
    # may end the line. Rails Semantic Logger writes the same in JSON, method, path and status in its payload.
    #
    # It tells no instant by itself: that of the response stands before it (Ruby's logger, syslog, a collector of logs),
    # or in a field.
    module Lograge
      extend OneLine

      WORDS = /\bmethod=([A-Z]+)[ ]path=(\S+)[ ].*?\bstatus=(\d{3})
        (?:(?:[ ]error='.*')?(?:[ ]\w+=\S+)*?[ ]duration=(\d+(?:\.\d+)?)|[ ]error=')/x
      JSON_LINE = /\{.*"(?:method|duration)":.*\}/

      # Where a line of JSON has its instant, by the names that loggers and collectors give it; else in what stands
      # before it, or in the first value that is a date and nothing else. Other dates are something else, such as a
      # parameter.
      INSTANT_KEYS = %w[@timestamp timestamp time ts].freeze

      # A number of JSON is digits as well; more of them, or a larger exponent, would take memory without bound.
      DURATION = /\A\d{1,18}(?:\.\d{1,30})?(?:e[-+]?\d{1,2})?\z/i
      STATUS = /\A\d{3}\z/

      # Where it has no fraction of a second; those that have one hardly ever have .000.
      RESOLUTION_NS = Units::NS_PER_S
      TIME_RESOLUTION_NS = Units::NS_PER_MS / 100

      def self.read(line)
        http_method, target, status, duration, instant = fields(line)
        return unless http_method.is_a?(String) && target.is_a?(String) && instant
        return unless duration.nil? || DURATION.match?(duration)
        status = STATUS.match?(status.to_s) ? status.to_i : nil
        app_ns = duration && (Rational(duration) * Units::NS_PER_MS).round
        Entry.new(at_ns: AccessLog.instant_ns(instant), http_method:, target:, status:, app_ns:, lead_ns: app_ns || 0)
      end

      # The duration is nil of a request that failed, with an error of several lines.
      def self.fields(line)
        return [*$~.captures, line[INSTANT]] if WORDS.match(line)
        match = JSON_LINE.match(line) or return
        json = JSON.parse(match[0])
        told = [*json.values_at(*INSTANT_KEYS).grep(String), match.pre_match, *json.values.grep(WHOLE_INSTANT)]
        instants = told.filter_map { |text| text[INSTANT] }
        return if json.key?(Kamal::KEY) # its times are nanoseconds
        duration = json["duration"]
        json, duration = json["payload"], json["duration_ms"] if json["payload"].is_a?(Hash)
        [*json.values_at("method", "path", "status"), duration.to_s, instants.first]
      end
      private_class_method :read, :fields
    end
  end
end
