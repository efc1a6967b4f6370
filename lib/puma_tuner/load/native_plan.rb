# frozen_string_literal: true

require "socket"
require "uri"

module PumaTuner
  module Load
    # The plan that the native generator's loop follows: requests as bytes, their order, an address, and when they leave
    # (ext/puma_tuner_load/bindings.c reads it). All that takes time is done here, before the load.
    class NativePlan
      MODES = {"closed" => 0, "even" => 1, "poisson" => 2}.freeze

      # Requests that are filled in from a data file may take so much: there is one for each line of the request file
      # and each row.
      PREPARED_BYTES_MAX = 256 * Units::MIB

      CONNECT_LIMIT_S = 2

      def initialize(mix:, url_base:, connections_count:, duration_s:, seed:, arrivals:)
        @mix = mix
        @url_base = url_base
        @connections_count = connections_count
        @duration_s = duration_s
        @seed = seed
        @arrivals = arrivals
        @prepared_bytes = 0
      end

      # @return [Hash{Symbol => Object}] plain values
      # @raise [UsageError] when there would be too many bytes
      def to_h
        {
          requests: @mix.requests.map { |request| request_plan(request) },
          order: @mix.order(@seed).pack("L*"), address:,
          mode: MODES.fetch(@arrivals.kind), rate_per_s: (@arrivals.rate_per_s || 0).to_f,
          connections_count: @connections_count,
          reuse_min: @arrivals.reuse&.min || 0, reuse_max: @arrivals.reuse&.max || 0,
          duration_ns: ns(@duration_s), think_ns: @arrivals.think_ns, seed: @seed
        }
      end

      private

      def unix? = @url_base.start_with?("unix:")

      def host = unix? ? "localhost" : @url_base.delete_prefix("http://")

      def address
        return Socket.sockaddr_un(@url_base.delete_prefix("unix:").delete_prefix("//")) if unix?
        url = URI.parse(@url_base)
        addresses = Addrinfo.getaddrinfo(url.hostname, url.port, nil, :STREAM)
        (addresses.one? ? addresses.first : reachable(addresses)).to_sockaddr
      rescue SocketError, ArgumentError => error
        raise MeasurementFailed, "#{@url_base} can't be reached: #{error.message}. " \
          "Give the address of a server that is running."
      end

      # "localhost" has two addresses, and a server often listens on one.
      def reachable(addresses) = addresses.find { |address| listens?(address) } || addresses.first

      def listens?(address)
        address.connect(timeout: CONNECT_LIMIT_S).close
        true
      rescue SystemCallError
        false
      end

      def request_plan(request)
        {
          messages: @mix.filled(request, @seed).map { |filled| prepared(filled) }.to_a, weight: request.weight,
          head: request.http_method == "HEAD",
          redirect_is_meant: request.redirect_meant?,
          expected: (request.expected_statuses || Request::USUALLY_EXPECTED).to_a, body_text: request.expected_text
        }
      end

      def prepared(request)
        bytes = bytes(request)
        @prepared_bytes += bytes.bytesize
        return bytes if @prepared_bytes <= PREPARED_BYTES_MAX
        raise UsageError, "filled in from the data file, the requests take more than " \
          "#{PREPARED_BYTES_MAX / Units::MIB} MiB; use fewer rows, shorter bodies, or fewer lines with {{names}}"
      end

      def bytes(request)
        headers = {"Host" => host}.merge(request.headers)
        headers["Content-Length"] = request.body.bytesize if request.body
        lines = ["#{request.http_method} #{request.path} HTTP/1.1",
          *headers.map { |name, value| "#{name}: #{value}" }, "", ""]
        lines.join("\r\n").b + request.body.to_s.b
      end

      def ns(seconds) = (seconds * Units::NS_PER_S).round
    end
  end
end
