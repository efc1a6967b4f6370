# frozen_string_literal: true

module PumaTuner
  module Load
    # A value that a response must hold, for requests after it. source: one of Pick::SOURCES; key: its name there
    Pick = Data.define(:name, :source, :key) do
      # In the order of ext/puma_tuner_load/client.h.
      const_set(:SOURCES, %w[meta input json header cookie].freeze)
      # Those that are looked for in the body.
      const_set(:IN_BODY, %w[meta input json].freeze)

      def to_s = "pick:#{name}=#{source}:#{key}"
    end

    # One request of a mix.
    #
    # weight: how often it is sent, compared with the others; 1 or more
    # http_method: in capitals
    # path: as it goes over the wire, with its query
    # headers: {name => value}
    # body: bytes, or nil for none
    # expected_statuses: the statuses that are right, or nil for any 2xx or 3xx
    # expected_text: must occur in the response's body (its first MiB); nil: anything may
    # picks: what the response must hold for its client
    Request = Data.define(:weight, :http_method, :path, :headers, :body, :expected_statuses, :expected_text, :picks) do
      # A request line may hold these characters only, so that a path cannot smuggle in a line of its own; "#" never
      # leaves a browser.
      const_set(:PATH, %r{\A/[!-"$-~]*\z})
      const_set(:USUALLY_EXPECTED, 200..399)
      # These statuses lead elsewhere: RFC 9110, section 15.4.
      const_set(:REDIRECTS, [301, 302, 303, 307, 308].freeze)

      def initialize(path:, weight: 1, http_method: "GET", headers: {}, body: nil, expected_statuses: nil,
        expected_text: nil, picks: [])
        fields = {weight:, http_method:, path:, headers:, body:, expected_statuses:, expected_text:, picks:}
        super(**Ractor.make_shareable(fields, copy: true))
      end

      # @param name [String] in any case
      # @return [String, nil] its value
      def header(name) = headers.find { |own, _| own.casecmp?(name) }&.last

      # @return [Boolean] whether it has {{names}}, for which values of a data file stand, or of its client
      def templated? = [path, *headers.values, *body].any? { |text| Template.in?(text) }

      # @return [Boolean] whether a redirect is listed among the statuses that
      #   are right; usually one is let pass, and asked about
      def redirect_meant? = !expected_statuses.nil? && expected_statuses.intersect?(self.class::REDIRECTS)

      # @param status [Integer] of a response
      def expects?(status) = (expected_statuses || self.class::USUALLY_EXPECTED).include?(status)
    end
  end
end
