# frozen_string_literal: true

module PumaTuner
  # Any value -> bytes. One renderer to a file; each registers itself on its last line.
  #
  # A renderer is a class with `new(**options)` and `call(value) -> String`.
  module Report
    autoload :Charts, "puma_tuner/report/charts"
    autoload :Summary, "puma_tuner/report/summary"
    autoload :Table, "puma_tuner/report/table"

    # In the order in which they are told to users.
    RENDERERS = %w[text html markdown json].freeze

    class << self
      # @return [Array<Symbol>]
      def formats = RENDERERS.map(&:to_sym)

      # @param value [Data] a document's value
      # @param format [Symbol] one of `formats`
      # @param options [Hash] the renderer's own
      # @return [String]
      # @raise [UserMistake] for a format nobody knows, or a value it has no form for
      def render(value, format:, **options)
        raise UserMistake, "there is no format #{format}; there are #{RENDERERS.join(", ")}" unless formats.include?(format)
        require_relative "report/#{format}"
        renderers.fetch(format).new(**options).call(value)
      end

      # @api private
      def register(format, renderer) = renderers[format] = renderer

      private

      def renderers = (@renderers ||= {})
    end
  end
end
