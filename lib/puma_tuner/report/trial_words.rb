# frozen_string_literal: true

module PumaTuner
  module Report
    # Trials on running servers in words: why they ended, and what `auto` does or does not.
    module TrialWords
      # Why a trial ended before its time, as clauses.
      ENDS = {
        workers_replaced: ->(gone:, come:) {
          "processes of the server were replaced meanwhile (#{gone} gone, #{come} new), as in a restart"
        },
        memory: ->(share:) { "the processes used #{Units.percent(share)} of the memory that they may use" },
        disobeyed: ->(why_not:) {
          "the server did not take the number of threads#{" (#{why_not.to_s.tr("_", " ")})" if why_not}"
        },
        miscounted: ->(spawned:, live:) {
          "Puma counted #{spawned} threads where there were #{live}"
        },
        queue: ->(queued:, usual:) {
          "#{Figures.counted(queued, "request")} waited for a thread, beside #{format("%.1f", usual)} elsewhere"
        },
        errors: ->(before:, after:) {
          "#{Units.percent(after)} of its responses were errors (500 and above), beside #{Units.percent(before)} " \
            "elsewhere"
        },
        starved_pool: ->(before:, after:) {
          "its requests spent #{Units.percent(after)} of their time waiting for a connection of a pool, beside " \
            "#{Units.percent(before)} elsewhere"
        },
        slow: ->(before_ns:, after_ns:, requests_count:) {
          "its p99 was #{Units.duration(after_ns)} in #{Figures.counted(requests_count, "request")}, beside " \
            "#{Units.duration(before_ns)} elsewhere"
        },
        interrupted: "it was interrupted",
        server_gone: "the server ended"
      }.freeze

      # What the whole came to.
      OUTCOMES = {
        better: "better", worse: "worse", not_shown: "no difference shown", harmful: "harmful, undone at once"
      }.freeze

      module_function

      # @param ended [Statement]
      # @return [String] a clause
      def ended(ended) = Statements.words(ended, ENDS)

      # @param outcome [Trial::Outcome]
      # @return [String] for puma.rb
      def line(outcome) = "threads #{outcome.threads.join(", ")}"
    end
  end
end
