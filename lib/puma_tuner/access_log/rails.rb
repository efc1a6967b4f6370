# frozen_string_literal: true

require "time"

module PumaTuner
  module AccessLog
    # Rails' own log, tagged or not. Its status is in another line, and requests interleave, so it is not told:
    #
    #   I, [2026-10-10T13:55:36.123456 #17]  INFO -- : [9d6b…] Started GET "/articles/42?q=a" for 192.0.2.1 at
    #   2026-10-10 13:55:36 +0000
    module Rails
      LINE = /Started ([A-Z]+) "([^"]+)" for \S+ at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d{4})/
      LOGGER = /\A[A-Z], \[(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+) /

      RESOLUTION_NS = Units::NS_PER_S

      # @param line [String]
      # @return [Entry, nil]
      def self.entry(line)
        match = LINE.match(line) or return
        http_method, target, instant = match.captures
        at = Time.strptime(instant, "%Y-%m-%d %H:%M:%S %z")
        Entry.new(at_ns: at.to_i * Units::NS_PER_S + fraction_ns(line), http_method:, target:, status: nil)
      rescue ArgumentError
        nil # no such day
      end

      # Ruby's logger tells fractions of the same second, where it is in use.
      def self.fraction_ns(line)
        instant = line[LOGGER, 1] or return 0
        (Rational("0.#{instant.split(".").last}") * Units::NS_PER_S).round
      end
      private_class_method :fraction_ns
    end
  end
end
