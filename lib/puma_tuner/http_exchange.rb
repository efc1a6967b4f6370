# frozen_string_literal: true

require "net/http"
require "timeout"
require "zlib"

module PumaTuner
  # One request to a server that is not ours, and its response, with bounds for what that server may do: it may be
  # slow, have no end, or speak something that only looks like HTTP.
  module HttpExchange
    # More was sent than there may be.
    class TooLarge < StandardError; end

    # Of one response, unpacked.
    BODY_BYTES_MAX = 512 * Units::MIB

    # What `call` raises, and no more: also where a header, a length or the packing of a body is none.
    FAULTS = [TooLarge, SystemCallError, SocketError, IOError, Timeout::Error, OpenSSL::SSL::SSLError, Zlib::Error,
      Net::ProtocolError, Net::HTTPBadResponse, Net::HTTPHeaderSyntaxError].freeze

    # A redirection is not followed, and nothing is asked twice.
    #
    # @param uri [URI::HTTP] of the server
    # @param request [Net::HTTPRequest]
    # @param part_limit_s [Numeric] seconds to wait for the next part of the response
    # @param whole_limit_s [Numeric] seconds for all of it: who sends a byte now and then keeps to the other limit
    # @param most_bytes [Integer]
    # @param options [Hash] of Net::HTTP.start
    # @yieldparam part [String] of the body, unpacked; without a block nobody keeps it
    # @return [Net::HTTPResponse]
    # @raise [StandardError] one of FAULTS
    def self.call(uri, request, part_limit_s:, whole_limit_s:, most_bytes: BODY_BYTES_MAX, **options, &)
      Timeout.timeout(whole_limit_s) do
        Net::HTTP.start(uri.hostname, uri.port, use_ssl: uri.is_a?(URI::HTTPS), read_timeout: part_limit_s,
          max_retries: 0, **options) { |http| receive(http, request, most_bytes, &) }
      end
    end

    # Piece by piece, as it may have no end.
    def self.receive(http, request, most_bytes)
      http.request(request) do |response|
        bytes_count = 0
        response.read_body do |part|
          bytes_count += part.bytesize
          raise TooLarge, "more than #{Units.mebibytes(most_bytes)} were sent" if bytes_count > most_bytes
          yield part if block_given?
        end
      end
    rescue ArgumentError => error # a carriage return amid a line of the head
      raise Net::HTTPBadResponse, error.message
    end
    private_class_method :receive
  end
end
