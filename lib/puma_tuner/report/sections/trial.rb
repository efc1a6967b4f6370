# frozen_string_literal: true

module PumaTuner
  module Report
    module Sections
      # What came of another number of threads on a running server, and the line to write into puma.rb.
      class Trial < Pair
        # @param outcome [PumaTuner::Trial::Outcome]
        def initialize(outcome)
          @outcome = outcome
          @plan = outcome.plan
        end

        # @return [Blocks::Page]
        def page
          Page.new(title:, conditions:, kicker: "PumaTuner trial", date: @outcome.started_at, parts: [
            Part.new(id: "outcome", title: "Outcome", sections: [result]),
            Part.new(id: "comparison", title: "How they differ", sections: [comparison].compact)
          ])
        end

        private

        def title
          "#{Figures.counted(@plan.threads_count, "thread")} instead of #{configured}: " \
            "#{TrialWords::OUTCOMES.fetch(@outcome.outcome)}"
        end

        def configured = @plan.configured.uniq.join(":")

        def conditions
          who = @plan.alone? ? "one process, in turns with what is configured" :
            "one of #{@plan.pids.size} workers at a time"
          "server #{@outcome.server_pid}; #{who}, #{@plan.periods_count} periods of #{@plan.period_s.round} s; " \
            "#{counts}"
        end

        def counts
          own, tried = @outcome.requests_counts.map { |count| Figures.counted(count, "request") }
          "#{tried} with it, #{own} without"
        end

        def result
          rows = {
            "p99" => (Figures.ratio(p99.adjusted || p99.ratio) if p99),
            "ended early" => @outcome.ended && TrialWords.ended(@outcome.ended),
            "undone" => {true => "all pools have what is configured", false => "not yet: requests are under way, or " \
              "the server does not respond"}[@outcome.restored]
          }
          Section.new(id: "outcome", title: "Outcome", blocks: [Labelled.new(rows),
            Snippet.new("config/puma.rb", TrialWords.line(@outcome)), *(Note.new(weaker) if @plan.alone?)])
        end

        def p99 = @outcome.rows.find { |row| row.name == "p99" }

        def weaker
          "One process has no fellows that serve the same traffic meanwhile: what changed by itself from period to " \
            "period is in these figures. A trial on a cluster is stronger."
        end

        def comparison
          return if @outcome.rows.empty?
          Section.new(id: "rows", title: "How they differ",
            blocks: [comparison_table(@outcome.rows, "traffic"), *notes.map { |text| Note.new(text) }])
        end

        def notes
          ["\"At equal traffic\": as if both had had the same requests per second and worker.", swapped, *mix]
        end

        def swapped
          return "Too few periods for a permutation test: a longer --for decides." unless @outcome.p_value
          "The p99 alone decides. Were both alike, swapping who was the canary would show as much in " \
            "#{Units.percent(@outcome.p_value)} of all cases."
        end

        def mix
          return unless @outcome.mix&.shifted
          "They were asked for different things: #{Units.percent(@outcome.mix.distance_ratio)} of the requests would " \
            "have to go to other endpoints to make them equal."
        end

        def figures = %w[configured tried].map { |name| Column.new(name, :figure) }

        def numbers(row) = super.first(2)

        def bytes(number) = Units.mebibytes(number)
      end
    end
  end
end
