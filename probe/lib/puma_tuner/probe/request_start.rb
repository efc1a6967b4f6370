# frozen_string_literal: true

module PumaTuner
  module Probe
    # Tells how long a request was under way before Puma had it, by the proxy's stamp: X-Request-Start, in seconds
    # (nginx: "t=1700000000.123"), milliseconds (Heroku) or microseconds (Apache). It compares two machines' clocks, so
    # that the result is as good as their agreement.
    module RequestStart
      HEADER = "HTTP_X_REQUEST_START"

      # Longer than any client waits: the stamp, or a clock, is wrong.
      LIMIT_NS = 3_600 * 1_000_000_000

      # A number is multiplied by the factor for its count of digits before the point. Seconds have ten, from 2001 to
      # 2286.
      FACTORS = {10 => 1_000_000_000, 13 => 1_000_000, 16 => 1_000, 19 => 1}.freeze

      # Anybody may send this header. No time is longer, and Ruby needs time in proportion to the length.
      MOST_BYTES = 64
      TIME = /(\d+)(?:\.(\d+))?\s*\z/

      # Puma tells how long the body took to arrive, in milliseconds: the client's time, not the proxy's.
      BODY_WAIT = "puma.request_body_wait"

      module_function

      # Notes with the client how long it was under way, when a proxy tells.
      # @param client [Puma::Client]
      def stamp(client)
        header = client.env[HEADER]
        client.puma_tuner_before_puma_ns = before_ns(header, client) if header
      end

      # @param header [String]
      # @param client [Puma::Client]
      # @return [Integer, nil] nanoseconds, 0 when the proxy's clock is ahead; nil when the header makes no sense
      def before_ns(header, client)
        sent_ns = instant_ns(header) or return
        now_ns = Process.clock_gettime(Process::CLOCK_REALTIME, :nanosecond)
        in_puma_ns = client.puma_tuner_queued_ns ? GvlClock.now_ns - client.puma_tuner_queued_ns : 0
        before_ns = now_ns - in_puma_ns - sent_ns - (client.env[BODY_WAIT].to_f * 1_000_000).round
        [before_ns, 0].max if before_ns < LIMIT_NS
      end

      # @return [Integer, nil] nanoseconds since 1970
      def instant_ns(header)
        return if header.bytesize > MOST_BYTES
        match = TIME.match(header) or return
        factor = FACTORS[match[1].size] or return
        fraction = match[2] ? match[2].to_i * factor / 10**match[2].size : 0
        match[1].to_i * factor + fraction
      end
    end
  end
end
