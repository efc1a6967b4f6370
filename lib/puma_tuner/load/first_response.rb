# frozen_string_literal: true

module PumaTuner
  module Load
    # A cold app may take longer for its first response than a window of warm-up lasts: on a busy machine a Rails app
    # took a second for what then took 20 ms.
    module FirstResponse
      # So long an app is waited for that gives no response; and so long is the longest load of one that does, but none
      # that counts. The loads themselves take longer: they settle, and what is in flight at their end is waited for.
      LIMIT_S = 10

      # Sends the same again, for twice as long each time, until something is answered that counts, or fails.
      #
      # @param traffic [#send_to]
      # @param url [String]
      # @param limit_s [Numeric] see LIMIT_S
      # @return [Outcome] of the first load with a response, or of the last
      def self.of(traffic, url, duration_s:, limit_s: LIMIT_S)
        deadline_s = Clock.now_s + limit_s
        loop do
          outcome = traffic.send_to(url, duration_s:)
          return outcome if outcome.counted_count.positive? || failed?(outcome)
          return outcome if outcome.requests_count.zero? ? Clock.now_s > deadline_s : duration_s >= limit_s
          duration_s *= 2
        end
      end

      def self.failed?(outcome) = outcome.socket_errors_count.to_i.positive? || outcome.unexpected_count.positive?
      private_class_method :failed?
    end
  end
end
