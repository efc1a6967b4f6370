# frozen_string_literal: true

require_relative "../support/markdown"

module Accuracy
  # Results as Markdown tables. Pure.
  class Table
    # @param results [Results]
    # @param tools [Array<String>]
    # @param workloads [Array<String>]
    def initialize(results, tools:, workloads:)
      @results = results
      @tools = tools
      @workloads = workloads
    end

    # @return [String] each tool's worst part, workload by workload
    def overview(condition)
      rows = @workloads.map { |workload| [workload, *@tools.map { |tool| brief(condition, workload, tool) }] }
      Markdown.table(["worst part, % of wall", *@tools], rows)
    end

    # @return [String] the same with the range over the rounds
    def details(condition)
      rows = @workloads.product(@tools).map do |workload, tool|
        worst = @results.spreads(condition, workload, tool).first
        [workload, tool, worst ? worst.part.to_s : "-", *figures(worst), runs(condition, workload, tool)]
      end
      Markdown.table(["workload", "tool", "worst part", "median %", "min…max %", "runs"], rows, left_count: 3)
    end

    # @return [String] every part of ours: the truth in ms and the error in per cent of wall time
    def ours(condition)
      rows = @workloads.filter_map do |workload|
        samples = @results.samples(condition, workload, Tools::OURS)
        [workload, *own_cells(samples)] if samples.any?
      end
      headings = Truth::PARTS.map { |part| part.to_s.tr("_", " ") }
      Markdown.table(["truth ms (error %)", *headings, "sum, wall", "doubt %"], rows)
    end

    # @param verdicts [Array<Judge::Verdict>]
    # @return [String]
    def self.verdicts(verdicts)
      by_outcome = OUTCOMES.to_h { |outcome, _| [outcome, verdicts.select { |verdict| verdict.outcome == outcome }] }
      return "All #{verdicts.size} targets are met." if by_outcome[:met].size == verdicts.size
      counts = OUTCOMES.map { |outcome, word| "#{by_outcome[outcome].size} #{word}" }
      rows = (by_outcome[:missed] + by_outcome[:not_shown]).map do |verdict|
        [verdict.condition, verdict.workload, verdict.what, verdict.note || rounds(verdict), verdict.target_percent.to_s, OUTCOMES.fetch(verdict.outcome)]
      end
      "Of #{verdicts.size} targets: #{counts.join(", ")}.\n\n" +
        Markdown.table(["condition", "work", "what", "error (doubt), each round", "target", "outcome"], rows, left_count: 4)
    end

    OUTCOMES = {met: "met", missed: "**missed**", not_shown: "not shown"}.freeze

    def self.rounds(verdict)
      verdict.rounds.map { |round| format("%s (%.2f)", Markdown.signed(round.error_percent), round.doubt_percent) }.join(", ")
    end
    private_class_method :rounds

    # @param blame [Hash{Blame::Scenarios::Entry => Array<Blame::Sample, Failure>}]
    # @return [String] each holder's share, known and told, and the error of every round
    def self.blame(blame)
      rows = blame.flat_map do |scenario, answers|
        samples = answers.grep(Blame::Sample)
        next [[scenario.title, "-", *["-"] * 4, answers.first.kind]] if samples.empty?
        scenario.holders.map { |holder| blame_row(scenario, holder, samples) }
      end
      Markdown.table(["beside the sleeper", "holder", "known %", "told %", "median error", "min…max", "doubt"], rows, left_count: 2)
    end

    def self.blame_row(scenario, holder, samples)
      known, reported = %i[known reported].map { |which| samples.map { |sample| sample.public_send(which).fetch(holder) } }
      errors = Results::Spread.new(part: holder, values: samples.map { |sample| sample.error_percent(holder) })
      [scenario.title, holder, *[known, reported].map { |values| format("%.1f", median(values)) }, Markdown.signed(errors.median),
        "#{Markdown.signed(errors.min)}…#{Markdown.signed(errors.max)}", format("%.2f", median(samples.map(&:doubt_percent)))]
    end
    private_class_method :blame_row

    # @return [Numeric, nil]
    def self.median(numbers) = PumaTuner::Stats::Quantile.of(numbers.compact.sort, 0.5)
    private_class_method :median

    # @return [Array<String>] a line per kind of failure
    def failures
      @results.all_failures.flat_map do |(condition, workload, tool), failures|
        failures.tally.map do |failure, count|
          "#{tool} #{failure.kind} #{count}x in #{workload}, #{condition}: #{failure.reason}."
        end
      end
    end

    private

    def brief(condition, workload, tool)
      worst = @results.spreads(condition, workload, tool).first
      return "#{Markdown.signed(worst.median)} #{worst.part}" if worst
      @results.failures(condition, workload, tool).first&.kind || "-"
    end

    def figures(spread)
      return ["-", "-"] unless spread
      [Markdown.signed(spread.median), "#{Markdown.signed(spread.min)}…#{Markdown.signed(spread.max)}"]
    end

    def runs(condition, workload, tool)
      failed = @results.failures(condition, workload, tool).map(&:kind).tally.map { |kind, count| "#{count} #{kind}" }
      [@results.samples(condition, workload, tool).size.to_s, *failed].join(", ")
    end

    def own_cells(samples)
      parts = Truth::PARTS.map do |part|
        own_cell(samples.map { |sample| sample.truth[part] }, samples.map { |sample| sample.error_percent(part) })
      end
      doubt = Truth::PARTS.map { |part| middle(samples.map { |sample| sample.doubt_percent(part) }) }.max
      [*parts, own_cell(samples.map(&:wall_ns), samples.map(&:wall_error_percent)), format("%.2f", doubt)]
    end

    def own_cell(truths_ns, errors_percent)
      format("%.1f (%s)", middle(truths_ns) / 1e6, Markdown.signed(middle(errors_percent)))
    end

    # @return [Numeric, nil]
    def middle(numbers) = PumaTuner::Stats::Quantile.of(numbers.compact.sort, 0.5)
  end
end
