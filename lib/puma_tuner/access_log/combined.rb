# frozen_string_literal: true

module PumaTuner
  module AccessLog
    # The common and the combined format, of Apache and nginx alike:
    #
    #   192.0.2.1 - - [10/Oct/2026:13:55:36 +0000] "GET /articles/42?q=a HTTP/1.1" 200 2326 "-" "curl/8.5"
    #
    # The instant is that of the response. Times are no part of it; people add them (nginx: $request_time,
    # $upstream_response_time), with names or without, at any place behind the size.
    module Combined
      extend OneLine

      TIME_LOCAL = %r{\A(\d{2})/(\w{3})/(\d{4}):(\d{2}):(\d{2}):(\d{2}) ([+-]\d{2})(\d{2})\z}
      LINE = %r{\A\S+[ ]\S+[ ].*?\[(\d{2}/\w{3}/\d{4}:\d{2}:\d{2}:\d{2}[ ][+-]\d{4})\][ ]
        "([A-Z]+)[ ](\S+)(?:[ ]HTTP/[\d.]+)?"[ ](\d{3})[ ]}x
      MONTHS = %w[Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec].each.with_index(1).to_h.freeze

      # How a byte is written that can't stand in a log: as part of a path, it is sent in percent.
      ESCAPED = /\\x(\h{2})/

      # Behind the size: referrer and client, whose words are not ours to read; names that people give to times; a time
      # alone, and what nginx writes where a request went to several servers in turn.
      QUOTED_TWICE = /\A\S+(?: "(?:[^"\\]|\\.)*"){2}/
      # More than five digits would be a day and more: an instant, as nginx' $msec is.
      TIMES = /(?<!\d)\d{1,5}\.\d{3,6}(?: ?[,:] ?(?:\d{1,5}\.\d{3,6}|-))*/
      APP = /\b(?:urt|upstream_response_time|upstream_time)["']?[=:] ?"?(#{TIMES})/
      # No server was asked: nginx redirected, or had the response.
      NO_APP = /\b(?:urt|upstream_response_time|upstream_time)["']?[=:] ?"?-(?! ?[,:] ?[\d-])/
      CLIENT = /\b(?:rt|request_time)["']?[=:] ?"?(#{TIMES})/
      ALONE = /(?<![^ "])(#{TIMES})(?![^ "\n\r])/

      TIME_RESOLUTION_NS = Units::NS_PER_MS

      # The clock of the log, which decides how far instants can be told apart.
      RESOLUTION_NS = Units::NS_PER_S

      def self.read(line)
        match = LINE.match(line) or return
        instant, http_method, target, status = match.captures
        rest = match.post_match.sub(QUOTED_TWICE, "")
        app_ns, client_ns = times(rest)
        Entry.new(at_ns: at_ns(instant), http_method:, target: target.gsub(ESCAPED, '%\1'), status: status.to_i,
          app_ns:, client_ns:, lead_ns: client_ns || app_ns || 0, passed_on: !NO_APP.match?(rest))
      end

      # @param text [String] as TIME_LOCAL has it, nginx' name for it
      # @return [Integer] nanoseconds since the epoch
      # @raise [ArgumentError] when there is no such day
      def self.at_ns(text)
        day, month, year, hour, minute, second, offset_hours, offset_minutes = TIME_LOCAL.match(text).captures
        month = MONTHS.fetch(month) { raise ArgumentError, "no month: #{month}" }
        offset = "#{offset_hours}:#{offset_minutes}"
        AccessLog.epoch_ns(Time.new(year.to_i, month, day.to_i, hour.to_i, minute.to_i, second.to_i, offset))
      end

      # @param text [String, nil] decimal seconds, of one server after the other
      # @return [Integer, nil] nanoseconds; nil where there is none
      def self.sum_ns(text) = text && text[TIMES]&.scan(/\d+\.\d+/)&.sum { |one| AccessLog.ns_of(one) }

      # Without names, the client's is the longest, as it has the others in it; then the app's is the next.
      def self.times(rest)
        return [APP, CLIENT].map { |name| sum_ns(rest[name, 1]) } if CLIENT.match?(rest) || APP.match?(rest)
        client_ns, app_ns = rest.scan(ALONE).map { |(text)| sum_ns(text) }.max(2)
        [app_ns, client_ns]
      end
      private_class_method :read, :times
    end
  end
end
