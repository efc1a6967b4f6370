# frozen_string_literal: true

module PumaTuner
  module AccessLog
    # The common or the combined format of an Apache whose LogFormat has %D behind it:
    #
    #   192.0.2.1 - - [10/Oct/2026:13:55:36 +0000] "GET /articles/42?q=a HTTP/1.1" 200 2326 "-" "curl/8.5" 12345
    #
    # The instant is that of the request (%t), and the time, in microseconds, goes on until the client has the response.
    # Nothing tells it from a count of bytes (%I, %O): so the last whole number of a line is taken, and this format for
    # none unless it is named.
    module Apache
      extend OneLine

      # Also as "12345", D=12345, 12345us, and what many have of %T/%D: **0/12345**
      TOOK_US = %r{(?<= )["*]*(?:\d+/|\w+=)?(\d{1,11})(?:us)?["*]*(?=\s|\z)}

      RESOLUTION_NS = Combined::RESOLUTION_NS
      TIME_RESOLUTION_NS = Units::NS_PER_US

      def self.read(line)
        entry = Combined.entry(line) or return
        behind = line.sub(Combined::LINE, "").sub(Combined::QUOTED_TWICE, "")
        client_ns = behind.scan(TOOK_US).flatten.last&.then { |text| text.to_i * Units::NS_PER_US }
        entry.with(app_ns: nil, client_ns:, lead_ns: 0)
      end
      private_class_method :read
    end
  end
end
