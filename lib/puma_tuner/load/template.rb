# frozen_string_literal: true

require "uri"

module PumaTuner
  module Load
    # A request with {{names}} in its path, its headers' values or its body, which a row of a data file fills in: in the
    # path percent-encoded, elsewhere as they are.
    class Template
      PLACEHOLDER = /\{\{ *([^{}"\r\n]+?) *\}\}/

      # A text with holes: every second part is a name.
      class Text
        # @param text [String]
        def initialize(text)
          @parts = text.b.split(PLACEHOLDER, -1).each_with_index.map do |part, index|
            index.odd? ? part.force_encoding(Encoding::UTF_8) : part
          end
        end

        # @return [Array<String>] every second one is a name
        attr_reader :parts

        # @return [Array<String>]
        def names = @parts.select.with_index { |_, index| index.odd? }

        # @yieldparam name [String]
        # @yieldreturn [String] what stands for it
        # @return [String] bytes
        def filled = @parts.each_with_index.map { |part, index| index.odd? ? yield(part).b : part }.join
      end

      # @param text [String]
      def self.in?(text) = text.b.match?(PLACEHOLDER)

      # @param request [Request]
      def initialize(request)
        @request = request
        @path = Text.new(request.path)
        @headers = request.headers.transform_values { |value| Text.new(value) }
        @body = request.body && Text.new(request.body)
      end

      # @return [Array<String>] each once
      def names = [@path, *@headers.values, *@body].flat_map(&:names).uniq

      # @param row [Hash{String => String}]
      # @return [Request] as it is sent
      def filled(row)
        @request.with(path: @path.filled { |name| URI.encode_uri_component(row.fetch(name)) },
          headers: @headers.transform_values { |text| text.filled { |name| row.fetch(name) } },
          body: @body&.filled { |name| row.fetch(name) })
      end
    end
  end
end
