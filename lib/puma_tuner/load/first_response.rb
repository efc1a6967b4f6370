# frozen_string_literal: true

module PumaTuner
  module Load
    # A cold app may take longer for its first response than a window of warm-up lasts: on a busy machine a Rails app
    # took a second for what then took 20 ms.
    module FirstResponse
      LIMIT_S = 10

      # Sends the same again, for twice as long each time, until something is answered that counts, or fails.
      #
      # @param traffic [#send_to]
      # @param url [String]
      # @return [Outcome] of the first load with a response, or of the last
      def self.of(traffic, url, duration_s:)
        deadline_s = Clock.now_s + LIMIT_S
        loop do
          outcome = traffic.send_to(url, duration_s:)
          if outcome.counted_count.positive? || outcome.socket_errors_count.to_i.positive? || Clock.now_s > deadline_s
            return outcome
          end
          duration_s *= 2
        end
      end
    end
  end
end
