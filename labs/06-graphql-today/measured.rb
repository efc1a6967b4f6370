# frozen_string_literal: true

module PumaTuner
  module Labs
    # What the rounds, the comparison of answers and the profiles say: claims, tables, sentences.
    class GraphqlTodayMeasured
      # What this lab set out for: by CPU time, on at least one query of the engine.
      TARGETS = {"classic" => 1.3, "next" => 1.15}.freeze

      # A query is called slower only by its whole interval, and by more than nobody would notice.
      SLOWER_RATIO = 0.98

      METHODS_SHOWN = 12

      attr_reader :verdicts

      # @param verdicts [Hash{String => Prove::Verdict}] by cell: "classic, flat, Ruby 3.4.5, YJIT off"
      # @param differentials [Hash{String => Object}] by engine, see ::GraphqlToday::Differential
      # @param profiles [Hash{String => Array(Profile::Costs, Profile::Costs)}] by engine
      def initialize(verdicts:, differentials:, profiles:)
        @verdicts = verdicts
        @differentials = differentials
        @profiles = profiles
      end

      # Objects are in the table: they are counted and not estimated, and would only make the other claims' intervals wider.
      #
      # @return [Array<Lab::Claim>]
      def claims = [*speeds, *answers]

      # @return [Array<Lab::Table>]
      def tables = [times, compared, *profiled]

      # @return [Array<String>]
      def conclusions = [*target_sentences, slower_sentence, answers_sentence]

      private

      def speed(verdict) = Lab::Ratios.speed(verdict, of: "cured", over: "the gem")

      def speeds
        verdicts.map { |name, verdict| Lab::Claim.of_ratio("#{name}: cured, this many times as fast", speed(verdict), note: "by CPU time per query") }
      end

      def answers
        @differentials.map do |engine, outcome|
          Lab::Claim.of_count("answers that the cures change, #{engine}", expected: 0, counted: outcome.differences.size,
            note: "of #{outcome.cases} seeded queries over #{outcome.schemas} schemas, errors, logs of hooks and order included")
        end
      end

      def times
        rows = verdicts.map do |name, verdict|
          gem, cured = ["the gem", "cured"].map { |variant| Lab::Ratios.estimate(verdict, variant, "cpu_per_iteration") }
          counts = ["the gem", "cured"].map { |variant| Lab::Ratios.estimate(verdict, variant, "allocations_per_iteration") }
          [name, *[gem, cured].map { |ns| Report::Figures.with_range(ns) { |number| Units.duration(number) } }, Report::Figures.ratio(speed(verdict)),
            *counts.map { |count| Report::Figures.count(count&.value&.round) }]
        end
        Lab::Table.new(title: "CPU per query", headings: ["engine, query", "the gem", "cured", "times as fast", "objects", "cured"], rows:,
          notes: ["Middle and range of the rounds; the ratio is paired, with its 95% interval."])
      end

      def compared
        rows = @differentials.map do |engine, outcome|
          [engine, *[outcome.cases, outcome.schemas, outcome.with_data, outcome.with_errors, outcome.raised, outcome.differences.size].map { |count| Report::Figures.count(count) }]
        end
        Lab::Table.new(title: "Answers with the cures and without", headings: ["engine", "queries", "schemas", "with data", "with errors", "raised", "different"], rows:,
          notes: ["Byte for byte: data, errors, paths, order, what hooks saw."])
      end

      def profiled
        @profiles.flat_map do |engine, (gem, cured)|
          rows = gem.methods.first(METHODS_SHOWN).map do |method|
            after = cured.methods.select { |other| other.name == method.name }.sum(&:self_amount)
            [method.name, Report::Sections::Profile.new(gem).share(method.self_amount), Units.duration(gem.per_work(method.self_amount)), Units.duration(cured.per_work(after))]
          end
          Lab::Table.new(title: "Profile: introspection, #{engine}, YJIT off", headings: ["method", "self %", "the gem", "cured"], rows:,
            notes: ["stackprof's CPU samples per query; in brackets what sampling leaves open."])
        end
      end

      def target_sentences
        TARGETS.filter_map do |engine, target|
          found = verdicts.select { |name, _| name.start_with?("#{engine},") }.to_h { |name, verdict| [name, speed(verdict)] }.compact
          best_name, best = found.max_by { |_, ratio| ratio.low }
          next unless best
          reached = found.count { |_, ratio| ratio.low >= target }
          "#{engine}: the target of #{target}x is #{reached.zero? ? "not reached by any whole interval" : "reached by the whole interval in #{reached} of #{found.size} cells"}; " \
            "at best #{Report::Figures.ratio(best)} (#{best_name})."
        end
      end

      def slower_sentence
        slower = verdicts.select { |_, verdict| (ratio = speed(verdict)) && ratio.level_ratio && ratio.high < SLOWER_RATIO }.keys
        slower.empty? ? "No query is shown to be slower with the cures." : "Slower with the cures, by the whole interval: #{slower.join("; ")}."
      end

      def answers_sentence
        count = @differentials.values.sum(&:cases)
        changed = @differentials.values.sum { |outcome| outcome.differences.size }
        "Of #{Report::Figures.count(count)} seeded queries, the cures change the answers of #{changed.zero? ? "none" : changed}."
      end
    end
  end
end
