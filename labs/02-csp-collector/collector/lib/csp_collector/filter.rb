# frozen_string_literal: true

require "uri"
require_relative "noise"
require_relative "store"

module CspCollector
  # What a reader of the report wants to see, out of the query of an address.
  #
  # directive, host, path, browser: exactly that, or nil; a path that ends in * is a beginning. noise: "hide", "show" or
  # "only". range: a key of RANGES_S. by: a key of Store::WINDOWS_S, or nil for what suits the range. page: from 1.
  # per_page: rows of a page.
  Filter = Data.define(:directive, :host, :path, :browser, :noise, :range, :by, :page, :per_page) do
    def initialize(directive: nil, host: nil, path: nil, browser: nil, noise: "hide", range: "7d", by: nil, page: 1, per_page: 50) = super

    # @param query [String] of an address
    # @return [Filter]
    # @raise [ArgumentError] with a message that says which parameter, and quotes none of it
    def self.parse(query)
      raise ArgumentError, "invalid" if query.to_s.b.match?(/%(?!\h\h)/n)
      pairs = URI.decode_www_form(query.to_s).reject { |_, value| value.empty? }
      raise ArgumentError, "a parameter stands twice" if pairs.map(&:first).uniq.size < pairs.size
      new(**pairs.to_h { |name, value| [known(name), checked(name, value)] })
    rescue ArgumentError => error
      raise ArgumentError, error.message.start_with?("invalid") ? "the query can't be decoded" : error.message
    end

    # @return [String] the query for the same with some things changed
    def query(**changes)
      default = Filter.new
      with(**changes).to_h.reject { |name, value| value == default.public_send(name) }.then { |rest| URI.encode_www_form(rest) }
    end

    # @param now_s [Integer]
    # @return [Integer, nil] windows from then on; nil: all
    def since_s(now_s) = Filter::RANGES_S[range]&.then { |span_s| now_s - span_s }

    class << self
      private

      def known(name)
        raise ArgumentError, "there is a parameter that is not known; known are #{members.join(", ")}" unless members.include?(name.to_sym)
        name.to_sym
      end

      def checked(name, value)
        raise ArgumentError, "#{name} is no text" unless value.valid_encoding? && !value.include?("\0")
        raise ArgumentError, "#{name} is longer than #{Filter::LONGEST} characters" if value.length > Filter::LONGEST
        case name
        when "page" then whole(name, value, 10_000)
        when "per_page" then whole(name, value, 500)
        else Filter::CHOICES.key?(name) ? choice(name, value) : value
        end
      end

      def whole(name, value, most)
        number = value.match?(/\A[1-9]\d{0,5}\z/) ? value.to_i : 0
        number.between?(1, most) ? number : raise(ArgumentError, "#{name} is no number from 1 to #{most}")
      end

      def choice(name, value)
        choices = Filter::CHOICES.fetch(name)
        choices.include?(value) ? value : raise(ArgumentError, "#{name} is none of #{choices.join(", ")}")
      end
    end
  end

  Filter::LONGEST = 300
  Filter::RANGES_S = {"1h" => 3_600, "24h" => 86_400, "7d" => 7 * 86_400, "30d" => 30 * 86_400, "all" => nil}.freeze
  Filter::CHOICES = {"noise" => %w[hide show only], "range" => Filter::RANGES_S.keys, "by" => Store::WINDOWS_S.keys}.freeze
end
