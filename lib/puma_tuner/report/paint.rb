# frozen_string_literal: true

module PumaTuner
  module Report
    # Colour for terminals, or none: whoever prints knows whether there is one, and what NO_COLOR says.
    class Paint
      CODES = {bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36}.freeze

      # Of a comparison's outcome.
      OUTCOMES = {better: :green, worse: :red, equivalent: :cyan, not_shown: :yellow}.freeze

      # @return [String] without any colour
      def self.strip(text) = text.gsub(/\e\[[\d;]*m/, "")

      # @param enabled [Boolean]
      def initialize(enabled)
        @enabled = enabled
      end

      # @param styles [Array<Symbol>] of CODES
      # @return [String]
      def call(text, *styles)
        return text unless @enabled && styles.any?
        "\e[#{styles.map { |style| CODES.fetch(style) }.join(";")}m#{text}\e[0m"
      end
    end
  end
end
