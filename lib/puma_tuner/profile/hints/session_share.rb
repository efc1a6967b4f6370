# frozen_string_literal: true

module PumaTuner
  module Profile
    module Hints
      # The session and its cookie: encrypted, signed and encoded at each request
      # that touches it. In one app about 5% of all time, seen only when the server
      # was profiled and not a request inside of it (osyoyu, Kaigi on Rails 2024).
      #
      # Evidence: 3% of the time or more in the methods of the session, its cookies and their encryption themselves:
      # the session's middleware calls the whole app, so what stands below it is not its own.
      class SessionShare
        FILES = Regexp.union(%r{/rack-session-[\d.]+/}, %r{/rack/session},
          %r{/action_dispatch/(?:middleware/(?:session|cookies)|request/session)},
          %r{/active_support/message(?:_encryptor|_verifier|s/)})

        # @param costs [Costs]
        # @return [Hint, nil]
        def call(costs)
          return unless costs.unit == "ns"
          own = costs.methods.select { |method| FILES.match?(method.path.to_s) && method.self_amount.positive? }
          share_ratio = costs.share_ratio(own.sum(&:self_amount)) || 0.0
          return if share_ratio < Share::LEAST_RATIO
          Hint.new(rule: "session_share", title: "the session takes #{(share_ratio * 100).round(1)}% of the time, " \
            "by its own methods alone", share_ratio:,
            evidence: "Mostly in #{own.first(4).map(&:name).join(", ")}; what OpenSSL does for it comes on top.",
            cure: "Leave it out where nobody is signed in (an API, health checks, public pages); keep less in it; " \
            "keep it on the server.", proof: "puma_tuner prove config.ru without_session.ru --primary cpu_per_request")
        end
      end
    end
  end
end
