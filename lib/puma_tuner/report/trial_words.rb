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
        silent: "a process of the server told nothing of its threads, as it could not write",
        disobeyed: ->(why_not:) {
          "the server did not take the number of threads#{" (#{why_not.to_s.tr("_", " ")})" if why_not}"
        },
        miscounted: ->(spawned:, live:) { "Puma counted #{spawned} threads where there were #{live}" },
        queue: ->(queued:, usual:) {
          "#{Figures.counted(queued, "request")} waited for a thread, where #{format("%.1f", usual)} are usual"
        },
        errors: ->(before:, after:) {
          "#{Units.percent(after)} of its responses were errors (500 and above), where #{Units.percent(before)} are " \
            "usual"
        },
        starved_pool: ->(before:, after:) {
          "its requests spent #{Units.percent(after)} of their time waiting for a connection of a pool, where " \
            "#{Units.percent(before)} are usual"
        },
        slow: ->(before_ns:, after_ns:, requests_count:) {
          "its p99 was #{Units.duration(after_ns)} in #{Figures.counted(requests_count, "request")}, where " \
            "#{Units.duration(before_ns)} are usual"
        },
        few_requests: ->(before:, after:, needed:) {
          "too few requests to judge: #{after} with them and #{before} without, where it takes #{needed} of each"
        },
        interrupted: "it was interrupted",
        server_gone: "the server ended"
      }.freeze

      # What the whole came to.
      OUTCOMES = {**Figures::OUTCOMES, harmful: "harmful, undone at once"}.freeze

      # Why there is no forecast, as clauses.
      WHY_NO_FORECAST = {
        "few_requests" => "too few requests",
        "no_steady_state" => "the simulation of today's threads has no steady state",
        "killed" => "the process that makes it was killed"
      }.freeze

      # What `auto` says.
      STEPS = {
        deployed: ->(seconds:) { "nothing, as a process is only #{seconds.round} s old" },
        restarted: ->(come:, all:) {
          "nothing, as #{come} of #{Units.counted(all, "process", "processes")} are new; all have what is configured"
        },
        silent: ->(seconds:) {
          "nothing, as a process has told nothing of its threads for #{seconds.round} s: it boots, or can't write"
        },
        no_forecast: ->(why_not:, requests_count:) {
          "nothing, as there is no forecast: #{WHY_NO_FORECAST.fetch(why_not, why_not)} " \
            "(#{Figures.counted(requests_count, "request")})"
        },
        no_other: "nothing, as no other number is allowed",
        none_steady: "nothing, as requests come faster than any other number of threads would serve them",
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
        memory: ->(to:, used_bytes:, limit_bytes:) {
          "nothing, as the processes use #{Units.mebibytes(used_bytes)} of #{Units.mebibytes(limit_bytes)}, which is " \
            "too much for #{Units.counted(to, "thread")}"
        },
        step: ->(to:, target:, ratio:, metric:) {
          "it would go to #{Units.counted(to, "thread")}: #{TrialWords.forecast(target, metric, ratio)}"
        },
        stepped: ->(to:, ratio:, metric:, measured:) {
          found = ["forecast: #{TrialWords.cost(metric, ratio)}"]
          found << "measured: #{TrialWords.cost("p99", measured)}" if measured
          "#{Units.counted(to, "thread")} from now on, as they did no harm to one worker (#{found.join(", ")})"
        },
        kept: ->(to:) { "#{Units.counted(to, "thread")} stay, as they did no harm to all workers, either" },
        taken_back: ->(to:, ended:) {
          "#{Units.counted(to, "thread")} are taken back from all workers: #{TrialWords.ended_fact(ended)}"
        },
        tried: ->(to:, ratio:, metric:) {
          "#{Units.counted(to, "thread")} did no harm to one worker, and are undone " \
            "(forecast: #{TrialWords.cost(metric, ratio)})"
        },
        undone: ->(to:, ended:) { "#{Units.counted(to, "thread")} are undone: #{TrialWords.ended_fact(ended)}" }
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

      # @param fact [Hash] of such a statement
      # @return [String] a clause
      def ended_fact(fact) = ended(Statement.from_document(fact))

      # @param given [Trial::Automatic::Given]
      # @return [String, nil] how the step came out on one worker
      def measured(given)
        return unless given.measured
        "Measured on one worker, instead of #{Units.counted(given.from, "thread")}: #{cost("p99", given.measured)}."
      end

      # @param outcome [Trial::Outcome]
      # @return [String] for puma.rb
      def line(outcome) = "threads #{outcome.threads.join(", ")}"
    end
  end
end
