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

      # Why there is no forecast, as clauses.
      WHY_NO_FORECAST = {
        "few_requests" => "too few requests", "not_reproduced" => "it does not reproduce what is recorded"
      }.freeze

      # What `auto` says.
      STEPS = {
        deployed: ->(seconds:) { "nothing, as a process is only #{seconds.round} s old" },
        restarted: "nothing, as all processes are new; they have what is configured",
        no_forecast: ->(why_not:, requests_count:) {
          "nothing, as there is no forecast: #{WHY_NO_FORECAST.fetch(why_not, why_not)} " \
            "(#{Figures.counted(requests_count, "request")})"
        },
        no_other: "nothing, as no other number can be forecast",
        not_sure: ->(count:, ratio:, metric:) {
          "nothing: no other number is surely better; the best is #{TrialWords.forecast(count, metric, ratio)}"
        },
        refused: ->(to:, seconds:) {
          "nothing, as #{Units.counted(to, "thread")} were tried before; again in #{seconds.round} s"
        },
        resting: ->(seconds:, to:) {
          "nothing for #{seconds.ceil} s, as the last step was just made; then #{Units.counted(to, "thread")}"
        },
        few_requests: ->(requests_count:, needed_count:, to:) {
          "nothing, as #{requests_count} of #{needed_count} requests have passed since the last step; then " \
            "#{Units.counted(to, "thread")}"
        },
        step: ->(to:, target:, ratio:, metric:) {
          "it would go to #{Units.counted(to, "thread")}: #{TrialWords.forecast(target, metric, ratio)}"
        },
        stepped: ->(to:, ratio:, metric:) {
          "#{Units.counted(to, "thread")} from now on, as one worker did well with it " \
            "(forecast: #{TrialWords.cost(metric, ratio)})"
        },
        tried: ->(to:, ratio:, metric:) {
          "#{Units.counted(to, "thread")} did no harm to one worker, and are undone " \
            "(forecast: #{TrialWords.cost(metric, ratio)})"
        },
        undone: ->(to:, ended:) {
          "#{Units.counted(to, "thread")} are undone: " \
            "#{TrialWords.ended(Statement.new(kind: ended.fetch("kind").to_sym, facts: ended.fetch("facts")))}"
        }
      }.freeze

      module_function

      # @param statement [Statement] of Trial::Step or Trial::Automatic
      # @return [String] a clause
      def step(statement) = Statements.words(statement, STEPS)

      # @return [String] "8 threads, with a p99 of 0.61x (0.44–0.84)"
      def forecast(count, metric, ratio) = "#{Units.counted(count, "thread")}, with #{cost(metric, ratio)}"

      # @param ratio [Array(Float, Float, Float)] of costs: of the throughput the inverse
      def cost(metric, ratio)
        value, low, high = (metric == "p99") ? ratio : [1 / ratio[0], 1 / ratio[2], 1 / ratio[1]]
        "#{(metric == "p99") ? "a p99" : "a throughput"} of #{format("%.2fx (%.2f–%.2f)", value, low, high)}"
      end

      # @param ended [Statement]
      # @return [String] a clause
      def ended(ended) = Statements.words(ended, ENDS)

      # @param outcome [Trial::Outcome]
      # @return [String] for puma.rb
      def line(outcome) = "threads #{outcome.threads.join(", ")}"
    end
  end
end
