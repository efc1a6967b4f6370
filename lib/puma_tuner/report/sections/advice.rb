# frozen_string_literal: true

module PumaTuner
  module Report
    module Sections
      # What to change, what it rests on, what it takes, how to go back: workers and threads, after what comes before
      # them; then the remarks.
      class Advice < Base
        # @param contents [Contents] with a list of advice
        def initialize(contents)
          @contents = contents
        end

        # @return [Blocks::Section]
        def section
          recommended = @contents.recommendation
          articles = [*@contents.before_topology, *recommended, *@contents.other_advice].uniq.map { |one| article(one) }
          nothing = Paragraph.new("Nothing to say: no rule found a reason to change anything.") if articles.empty?
          Section.new(id: "recommended", title: recommended ? "Recommended" : "Advice",
            blocks: [*nothing, *articles, *withheld])
        end

        private

        # What was measured to make this app worse is no advice, but whoever misses it should know why.
        def withheld
          return [] if @contents.advice_list.withheld.empty?
          told = @contents.advice_list.withheld.map do |measured|
            "#{ProofWords.advice(measured)}: #{ProofWords.of(measured)}"
          end
          [Paragraph.new("Left out, as it made this app worse (`puma_tuner advise --forget` asks for it again):"),
            List.new(told)]
        end

        # What an earlier proof of the same showed.
        def known(advice)
          measured = advice.measured || advice.measured_elsewhere
          return unless measured
          other = "; this advice is for another load" unless advice.measured
          "#{ProofWords.of(measured)}#{other} (`puma_tuner advise --forget` drops it)"
        end

        def article(advice)
          told = AdviceWords.of(advice)
          change, undo = [told.change, told.undo].map { |text| advice.topology ? Code.new(text) : text }
          rows = {"predicted" => prediction(advice), "before" => known(advice), "change" => change,
                  "cost" => told.cost, "undo" => undo, "prove" => proof(advice), "because" => told.evidence,
                  "rule" => advice.rule}
          stays = advice.topology && @contents.stay?
          snippets = stays ? [] : advice.lines.flat_map { |place, text| [Snippet.new(place, text), *old_name(text)] }
          Article.new("#{"Remark: " if advice.remark?}#{told.title}", [Labelled.new(rows, style: :list), *snippets],
            style: advice.remark? ? :remark : :advice)
        end

        # A file from before Rails 8.1 may have the pool's size by its old name, which `advise --diff` keeps.
        def old_name(text)
          return unless text.start_with?("max_connections:")
          Note.new("Where the file has `pool:` instead, keep that name: Rails does not start with both.")
        end

        # What `tune` does of workers and threads by itself.
        def proof(advice)
          return if advice.topology || advice.factors.empty?
          factors = advice.factors.map { |key, value| "#{key}=#{value}" }.join(",")
          advised = "advised:#{factors}"
          Code.new("puma_tuner prove --variant today: --variant #{advised.match?(/\s/) ? %("#{advised}") : advised}")
        end

        def prediction(advice)
          return "a steady state, which today's settings have not" if advice.topology && advice.throughput_ratio.nil?
          return if advice.throughput_ratio.nil? || (advice.topology && @contents.stay?)
          ratios = {"throughput" => advice.throughput_ratio, "p50" => advice.p50_ratio, "p99" => advice.p99_ratio}
          words = ratios.filter_map { |word, ratio| "#{word} #{Figures.ratio(ratio)}" if ratio }
          "#{words.join(", ")}, compared with today; #{Figures.level(advice.throughput_ratio)} of " \
            "#{Figures.counted(advice.throughput_ratio.samples_count, "simulation")}"
        end
      end
    end
  end
end
