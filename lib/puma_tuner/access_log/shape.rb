# frozen_string_literal: true

require "uri"

module PumaTuner
  module AccessLog
    # A target without what differs from request to request: variable parts of its path, values of its query. In their
    # places stand names, `{{articles_id}}`, under which a data file may have values.
    #
    # A value never stands in a shape: logs hold names, searches and tokens. A word in a path is no value, as nothing
    # tells "/users/ada" from "/users/new".
    #
    # template: "/articles/{{articles_id}}?q={{q}}"; values: {name => what stood there}
    Shape = Data.define(:template, :values) do
      # A name that an author would give to a parameter, Rails' brackets and an
      # escape included; and one that stands alone, as a switch.
      const_set(:KEY, /\A[\w.\-%\[\]]{1,60}\z/)
      const_set(:SWITCH, /\A[a-z_]{1,20}\z/)

      # @param target [String]
      # @yieldparam path [String] its variable parts are told by "/:id"
      # @return [Shape]
      def self.of(target, &named)
        path, query = target.split("?", 2)
        values = self::Values.new
        template = template_of(path, named.call(path), values)
        pairs = query.to_s.split("&").map { |pair| pair_of(pair, values, &named) }
        new(template: pairs.any? ? "#{template}?#{pairs.join("&")}" : template, values: values.to_h)
      end

      # Segment by segment, as naming keeps their number.
      def self.template_of(path, name, values)
        segments = path.split("/").reject(&:empty?)
        names = name.split("/").reject(&:empty?)
        return path if segments == names
        filled = segments.zip(names).each_with_index.map do |(segment, one), place|
          next segment unless one.start_with?(":id")
          extension = one.delete_prefix(":id")
          before = names[0...place].reverse.find { |word| !word.start_with?(":") }
          value = decoded(segment.delete_suffix(extension).gsub("+", "%2B"))
          "{{#{values.keep("#{(before || "path").gsub(/\W+/, "_")}_id", value)}}}#{extension}"
        end
        "/#{filled.join("/")}#{"/" if path.end_with?("/")}"
      end

      def self.pair_of(pair, values, &named)
        key, value = pair.split("=", 2)
        return pair if pair.empty?
        return "{{#{values.keep("query", decoded(pair))}}}" unless name?(key, value ? self::KEY : self::SWITCH, &named)
        return pair if value.nil? || value.empty?
        "#{key}={{#{values.keep(decoded(key).gsub(/\W+/, "_").gsub(/\A_+|_+\z/, ""), decoded(value))}}}"
      end

      def self.decoded(text)
        URI.decode_www_form_component(text)
      rescue ArgumentError
        "" # an escape that is none
      end

      # A whole query may be a token, an address or a search.
      def self.name?(key, pattern)
        word = decoded(key).tr("[]", "_")
        pattern.match?(key) && yield("/#{word}") == "/#{word}"
      end
      private_class_method :template_of, :pair_of, :decoded, :name?
    end

    # What stood in one target, by names of which each stands once.
    class Shape::Values
      def initialize
        @names = Load::FreeNames.new
        @values = {}
      end

      # @return [String] the name that the value has got
      def keep(name, value)
        @names.take(name.empty? ? "value" : name).tap { |free| @values[free] = value.scrub("?") }
      end

      # @return [Hash{String => String}]
      def to_h = @values.freeze
    end
  end
end
