# frozen_string_literal: true

module PumaTuner
  module Report
    # Advice in words: the only place that has them. The files of advice_words/ have a table of each rule, called like
    # it: by kind of a statement the text, or what makes it of the statement's facts.
    module AdviceWords
      # An advice as people read it. evidence: sentences
      Told = Data.define(:title, :evidence, :change, :cost, :undo)

      Dir["#{__dir__}/advice_words/*.rb"].sort.each { |path| require path }

      # Tables by rule.
      RULES = Advise::Rules::PATHS.values.map { |path| File.basename(path, ".rb") }
        .to_h { |name| [name, const_get(name.upcase, false)] }.freeze

      # Older files have a text.
      WORDS = {told: ->(text:) { text }}.merge(*RULES.values).freeze

      class << self
        # @param advice [Advise::Advice]
        # @return [Told]
        def of(advice)
          Told.new(evidence: advice.evidence.map { |statement| words(statement) },
            **%i[title change cost undo].to_h { |field| [field, words(advice.public_send(field))] })
        end

        # @param statement [Statement]
        # @return [String]
        def words(statement)
          Statements.words(statement, WORDS)
        end

        # @param range [Array<Numeric>] middle, low, high
        def rate(range) = "#{Units.rate(range[0])} requests/s (#{Units.rate(range[1])} to #{Units.rate(range[2])})"

        def duration(range) = "#{Units.duration(range[0])} (#{Units.duration(range[1])} to #{Units.duration(range[2])})"

        # @param throughput_ratio [Array<Float>] of today's: middle, low, high
        # @param p99_ratio [Array<Float>]
        # @return [String] "1.20x requests/s (1.05x to 1.37x), 0.80x p99 (0.60x to 1.07x)"
        def ratios(throughput_ratio, p99_ratio)
          told = {"requests/s" => throughput_ratio, "p99" => p99_ratio}.map do |word, (middle, low, high)|
            format("%.2fx %s (%.2fx to %.2fx)", middle, word, low, high)
          end
          told.join(", ")
        end

        def gain(throughput_ratio: nil, slots_less_count: nil, p99_ratio: nil)
          return "#{Units.change(throughput_ratio)} requests/s" if throughput_ratio
          return "as many requests/s with #{Units.counted(slots_less_count, "slot")} less" if slots_less_count
          "as many requests/s, #{Units.change(p99_ratio)} p99"
        end

        def not_more(open:, ratio:, margin_ratio:)
          return "not #{Units.percent(margin_ratio)} #{open ? "less" : "more"}" if margin_ratio
          "the difference of #{Units.change(ratio[0])} (#{Units.change(ratio[1])} to #{Units.change(ratio[2])}) may " \
            "be none, and of such settings the one with the fewest slots is taken"
        end

        # @return [Advise::Constraints]
        def constraints(fields) = Advise::Constraints.from_document(fields)

        # @return [String]
        def load(fields) = Model::Arrivals.from_document(fields).to_s

        def limits(fields) = constraints(fields).to_s
      end
    end
  end
end
