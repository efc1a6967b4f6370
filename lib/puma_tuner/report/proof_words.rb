# frozen_string_literal: true

module PumaTuner
  module Report
    # What a proof showed of advice, and why some could not be measured, in words.
    module ProofWords
      # Why an advice was not measured, or what of it was not in force, as clauses.
      REASONS = {
        stays: "it changes nothing",
        no_lines: "it has nothing to set: its cure is work on the code; measure that with " \
          "`puma_tuner prove --variant today: --variant changed:git=BRANCH`",
        no_setting: "no setting is recommended; `puma_tuner tune` measures the likeliest",
        pool_in_file: ->(path:) {
          "the pool's size stands in #{path}; change it on a branch, and measure that with " \
            "`puma_tuner prove --variant today: --variant changed:git=BRANCH`"
        },
        in_code: ->(places:) {
          "its lines alone do nothing without those for #{places.join(" and ")}; set these on a branch, and measure " \
            "that with `puma_tuner prove --variant today: --variant changed:git=BRANCH`"
        },
        of_folder: "config/puma.rb names its own folder, and would not find its files from a copy",
        computed_there: ->(lines:) { "code in config/puma.rb computes what #{lines.join(" and ")} would set" },
        in_file_already: "config/puma.rb has its lines already: measure the app again",
        not_to_be_had: ->(text:) { text },
        fails_to_serve: ->(text:) { text },
        not_measured: "the rounds did not come to it",
        too_few_places: ->(size:, places_count:, threads_count:, **) {
          "Active Record's pool had #{Units.counted(size, "place")} for #{Units.counted(threads_count, "thread")}: " \
            "set the line for config/database.yml first, which makes it #{places_count}, and measure again"
        }
      }.freeze

      METRICS = Prove::Metric::SERVED.to_h { |metric| [metric.name, metric.label] }.freeze

      OUTCOMES = {**Figures::OUTCOMES, fails: "requests or processes failed"}.freeze

      class << self
        # @param statement [Statement]
        # @return [String] a clause
        def reason(statement) = Statements.words(statement, REASONS)

        # @param contents [Contents]
        # @return [String, nil] what was not in force of the recommendation that was measured
        def starved(contents)
          "While #{contents.recommended_cell.variant} was measured, #{reason(contents.starved)}." if contents.starved
        end

        # @param contents [Contents]
        # @return [String, nil] which variants did not keep up with an open loop
        def behind(contents)
          names = contents.cells.select { |cell| cell.remarks.any? { |one| one.kind == :fell_behind } }.map(&:variant)
          return if names.empty?
          "With #{Figures.list(names)}, more requests came than were answered, and the queue still grew when a trial " \
            "ended: the latencies are those of trials this long, and longer ones would have longer latencies."
        end

        # @param measured [Advise::Measured]
        # @return [String] "measured on 2026-03-02 against 1x5, under a load of 20 connections: 0.93x (0.90–0.97)
        #   requests/s, worse"
        def of(measured)
          what = [Figures.ratio(measured.ratio), metric(measured)].join(" ") if measured.ratio
          under = ", under a load of #{measured.arrivals}" if measured.arrivals
          "measured on #{measured.measured_at[0, 10]} against #{measured.today}#{under}: " \
            "#{[what, OUTCOMES.fetch(measured.outcome)].compact.join(", ")}#{beside(measured)}"
        end

        # @param measured [Advise::Measured]
        # @return [String]
        def metric(measured) = METRICS.fetch(measured.metric, measured.metric)

        # @param measured [Advise::Measured]
        # @return [String] what was advised, "topology 2x3" or "affinity"
        def advice(measured) = [measured.rule, measured.topology].compact.join(" ")

        private

        def beside(measured)
          return unless measured.predicted && measured.as_predicted? == false
          "; predicted was #{Figures.ratio(measured.predicted)}"
        end
      end
    end
  end
end
