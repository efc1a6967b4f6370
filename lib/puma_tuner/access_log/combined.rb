# frozen_string_literal: true

require "time"

module PumaTuner
  module AccessLog
    # The common and the combined format, of Apache and nginx alike:
    #
    #   192.0.2.1 - - [10/Oct/2026:13:55:36 +0000] "GET /articles/42?q=a HTTP/1.1" 200 2326 "-" "curl/8.5"
    module Combined
      LINE = %r{\A\S+[ ]\S+[ ].*?\[(\d{2})/(\w{3})/(\d{4}):(\d{2}):(\d{2}):(\d{2})[ ]([+-]\d{2})(\d{2})\][ ]
        "([A-Z]+)[ ](\S+)(?:[ ]HTTP/[\d.]+)?"[ ](\d{3})[ ]}x
      MONTHS = %w[Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec].each.with_index(1).to_h.freeze

      # The clock of the log, which decides how far instants can be told apart.
      RESOLUTION_NS = Units::NS_PER_S

      # @param line [String]
      # @return [Entry, nil]
      def self.entry(line)
        match = LINE.match(line) or return
        *date, offset_hours, offset_minutes, http_method, target, status = match.captures
        day, month, year, hour, minute, second = date
        at = Time.new(year.to_i, MONTHS.fetch(month) { return }, day.to_i, hour.to_i, minute.to_i, second.to_i,
          "#{offset_hours}:#{offset_minutes}")
        Entry.new(at_ns: at.to_i * Units::NS_PER_S, http_method:, target:, status: status.to_i)
      rescue ArgumentError
        nil # no such day
      end
    end
  end
end
