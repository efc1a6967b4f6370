# frozen_string_literal: true

module PumaTuner
  # Something that is said, as data: of advice, of a self-check. Report has the words, one table for each (AdviceWords,
  # SelfCheckWords).
  #
  # kind: what it says; facts: what about, {"ratio" => 0.2}: numbers, texts, lists and hashes of them. A range is
  #   [middle, low, high]
  Statement = Document.define(:kind, :facts, symbols: [:kind]) do
    class << self
      # @param facts [Hash{Symbol => Object}] values are taken apart
      # @param kind [Symbol]
      # @return [Statement]
      def of(kind, **facts)
        new(kind:, facts: Ractor.make_shareable(facts.to_h { |name, fact| [name.to_s, plain(fact)] }))
      end

      # Older files have a text.
      def from_document(fields) = fields.is_a?(String) ? of(:told, text: fields) : super

      private

      def plain(fact)
        return fact.to_fact if fact.respond_to?(:to_fact)
        case fact
        when Topology then fact.to_s
        when Document::Writing then JSON.parse(JSON.generate(fact.to_document))
        else fact
        end
      end
    end
  end
end
