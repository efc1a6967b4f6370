# frozen_string_literal: true

module PumaTuner
  module Fleet
    # Selects series: the part between braces in PromQL.
    #
    # matchers: [[label, operator, value], …]
    Selector = Data.define(:matchers) do
      # @param text [String] '{yjit="off",service=~"shop|admin"}', braces may be left out
      # @raise [UsageError]
      def self.parse(text)
        inside = text.strip.delete_prefix("{").delete_suffix("}").strip
        one = /\s*([a-zA-Z_][a-zA-Z0-9_]*)\s*(=~|!~|!=|=)\s*"((?:[^"\\]|\\.)*)"\s*/
        unless inside.match?(/\A(?:#{one}(?:,|\z))*\z/)
          raise UsageError, "#{text.inspect} is not a selector; write labels as in PromQL: '{yjit=\"off\"}'"
        end
        new(matchers: inside.scan(one).freeze)
      end

      # @return [Array<String>]
      def labels = matchers.map(&:first)

      # @return [String] of a metric: 'name{…}'
      def of(metric) = matchers.empty? ? metric : "#{metric}#{self}"

      # @param more [Array<Array>] matchers
      def with_more(*more) = with(matchers: matchers + more)

      def to_s = "{#{matchers.map { |label, operator, value| "#{label}#{operator}\"#{value}\"" }.join(",")}}"
    end
  end
end
