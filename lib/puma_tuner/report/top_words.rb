# frozen_string_literal: true

module PumaTuner
  module Report
    # A running server's diagnosis in words (Top::Diagnosis): a sentence of all requests, and what stands in the row of
    # one endpoint.
    module TopWords
      share = ->(ratio) { "#{format("%.0f%%", ratio * 100)} of their time" }

      SENTENCES = {
        idle: "No request has ended in this window.",
        unknown: "What requests spend their time on is not known here, but for Puma's queue.",
        gvl: ->(ratio:, wait_ns:, endpoint:, holder: nil, holder_kind: nil, made_ns: nil) {
          next "GVL-bound: requests wait #{Units.duration(wait_ns)} for the GVL, #{share.call(ratio)}." unless holder
          "GVL-bound: #{TopWords.holder(holder_kind, holder)} makes others wait #{Units.duration(made_ns)} a request."
        },
        threads: ->(ratio:, wait_ns:, endpoint:, threads_count: nil) {
          "Too few threads: requests wait #{Units.duration(wait_ns)} in Puma" \
            "#{" for one of #{threads_count} in a worker" if threads_count}, #{share.call(ratio)}."
        },
        cores: ->(ratio:, wait_ns:, endpoint:) {
          "Too few cores: requests that have the GVL wait #{Units.duration(wait_ns)} for one, #{share.call(ratio)}."
        },
        lock: ->(ratio:, wait_ns:, endpoint:) {
          "Lock-bound: requests wait #{Units.duration(wait_ns)} for locks, #{share.call(ratio)}; most in #{endpoint}."
        },
        pool: ->(ratio:, wait_ns:, endpoint:) {
          "Too few connections: requests wait #{Units.duration(wait_ns)} for one of a pool, #{share.call(ratio)}."
        },
        gc: ->(ratio:, wait_ns:, endpoint:) {
          "Garbage collection takes #{Units.duration(wait_ns)} of a request, #{share.call(ratio)}; most in #{endpoint}."
        },
        io: ->(ratio:, wait_ns:, endpoint:, part:) {
          "Nothing in Puma holds requests up: they wait #{Units.duration(wait_ns)} #{WAITS.fetch(part, "for IO")}, " \
            "#{share.call(ratio)}."
        },
        cpu: ->(ratio:, wait_ns:, endpoint:) {
          "Nothing in Puma holds requests up: they compute for #{Units.duration(wait_ns)}, #{share.call(ratio)}."
        }
      }.freeze

      WAITS = {"db" => "for a database", "redis" => "for Redis or memcached", "http" => "for other HTTP servers",
               "file" => "for files", "sleep" => "in Kernel#sleep"}.freeze

      # In a row.
      CAUSES = {
        gvl: ->(ratio:, wait_ns:, holder: nil, holder_kind: nil) {
          holder ? "gvl: #{TopWords.holder(holder_kind, holder)}" : "gvl"
        },
        threads: ->(ratio:, wait_ns:) { "too few threads" }, cores: ->(ratio:, wait_ns:) { "too few cores" },
        lock: ->(ratio:, wait_ns:) { "a lock" }, pool: ->(ratio:, wait_ns:) { "a full pool" },
        gc: ->(ratio:, wait_ns:) { "its garbage" }, cpu: ->(ratio:, wait_ns:) { "its own code" },
        io: ->(ratio:, wait_ns:, part:) { part }
      }.freeze

      # About a key that was pressed.
      MESSAGES = {
        profile_begun: ->(endpoint:) { "Slow requests of #{endpoint} are being profiled …" },
        profile: ->(endpoint:, path:, slow_count:, requests_count:) {
          "#{slow_count} slow of #{requests_count} requests of #{endpoint}: `puma_tuner report #{path}`"
        },
        no_profile: ->(detail:) { "No profile: #{detail}" },
        none_ended: "No profile: no request has ended.",
        recorded_by_command: "No profile: a puma_tuner command records this server.",
        none_slow: ->(endpoint:, requests_count:, duration_s:, least_count:) {
          "No profile: of #{requests_count} requests of #{endpoint} in #{duration_s} s none stands out; it takes " \
            "#{least_count} of them at least"
        },
        no_sample: ->(slow_count:) {
          "No profile: #{Figures.counted(slow_count, "slow request")} took too little CPU time for a sample"
        },
        no_recording: "No snapshot: nothing of this command records the server.",
        snapshot_begun: "A snapshot is being written …",
        snapshot: ->(path:, requests_count:) { "#{Figures.counted(requests_count, "request")} are in #{path}" },
        no_snapshot: ->(detail:) { "No snapshot: #{detail || "no request has ended since the recording began"}." }
      }.freeze

      # Why there is no forecast.
      WHY_NOT = {
        "few_requests" => ->(outlook) {
          "it takes #{ServerForecast::LEAST_REQUESTS_COUNT} requests, and there were #{outlook.requests_count} in " \
            "#{(outlook.window_ns / Units::NS_PER_S.to_f).round} s"
        },
        "not_reproduced" => ->(_) { "none reproduces the recording (`puma_tuner tune` measures)" },
        "ours" => ->(_) { "a puma_tuner command records this server" },
        "failed" => ->(outlook) { Figures.printable(outlook.detail) }
      }.freeze

      module_function

      # @param diagnosis [Statement]
      # @return [String]
      def sentence(diagnosis) = Figures.printable(Statements.words(diagnosis, SENTENCES))

      # @param cause [Statement, nil]
      # @return [String]
      def cause(cause) = Figures.printable(Statements.words(cause, CAUSES) || "-")

      # @param outlook [Data, nil] Top::Outlook
      # @return [String, nil] nil where there is a forecast
      def why_no_forecast(outlook)
        return "it comes once #{ServerForecast::LEAST_REQUESTS_COUNT} requests are recorded" unless outlook
        WHY_NOT[outlook.why_not]&.call(outlook)
      end

      # @param recommendation [Probe::Recommendation, nil]
      # @return [String, nil] in the words of the server's own lines; nil where there is none to speak of
      def recommendation(recommendation)
        return unless recommendation
        topology = recommendation.topology
        if topology
          stay = "stay with " if topology == recommendation.today
          return Figures.printable("#{stay}#{topology}; #{ThreadLine.found(recommendation)}")
        end
        return ThreadLine::MORE_PLACES if recommendation.why_not == "pool"
        "none; #{Figures.printable(ThreadLine.why_not(recommendation))}"
      end

      # @param message [Statement, nil]
      # @return [String, nil]
      def message(message) = message && Figures.printable(Statements.words(message, MESSAGES))

      # @param kind [String] as in a Probe::Blame
      # @return [String]
      def holder(kind, name) = GvlHolders.holder_name(Probe::Blame.new(kind:, holder: name, wait_ns: 0))
    end
  end
end
