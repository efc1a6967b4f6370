# frozen_string_literal: true

require "socket"
require "uri"

module PumaTuner
  module Load
    # The plan that the native generator's loop follows: requests as bytes, their order, an address, and when they leave
    # (ext/puma_tuner_load/bindings.c reads it). All that takes time is done here, before the load.
    class NativePlan
      MODES = {"closed" => 0, "even" => 2, "poisson" => 3}.freeze
      SET_UP = 1

      # Requests that are filled in from a data file may take so much: there is one for each line of the request file
      # and each row.
      PREPARED_BYTES_MAX = 256 * Units::MIB

      CONNECT_LIMIT_S = 2

      # @param clients [Clients, nil] of a mix with set-up lines
      def initialize(mix:, url_base:, connections_count:, duration_s:, seed:, arrivals:, clients: nil)
        @mix = mix
        @url_base = url_base
        @connections_count = connections_count
        @duration_s = duration_s
        @seed = seed
        @arrivals = arrivals
        @session = Session.new(mix) if mix.set_up.any?
        @clients = clients
        @prepared_bytes = 0
      end

      # @return [Hash{Symbol => Object}] plain values
      # @raise [UsageError] when there would be too many bytes
      def to_h = {**load, requests: plans(@mix.requests), order: @mix.order(@seed).pack("L*")}

      # Of the mix's set-up lines, as steps that each client takes once.
      # @return [Hash{Symbol => Object}] likewise
      def set_up
        requests = plans(@mix.set_up).map { |plan| {**plan, redirect_is_meant: true} }
        {**load, requests:, order: [0].pack("L*"), mode: SET_UP}
      end

      private

      def load
        {
          address:, mode: MODES.fetch(@arrivals.kind), rate_per_s: (@arrivals.rate_per_s || 0).to_f,
          connections_count: @connections_count,
          reuse_min: @arrivals.reuse&.min || 0, reuse_max: @arrivals.reuse&.max || 0,
          duration_ns: ns(@duration_s), think_ns: @arrivals.think_ns, seed: @seed, clients: @clients&.states
        }
      end

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

      def plans(requests) = requests.map { |request| request_plan(request) }

      def request_plan(request)
        {
          messages: messages(request), weight: request.weight,
          head: request.http_method == "HEAD",
          redirect_is_meant: request.redirect_meant?,
          expected: (request.expected_statuses || Request::USUALLY_EXPECTED).to_a, body_text: request.expected_text,
          picks: request.picks.map { |pick| [@session.place(pick.name), Pick::SOURCES.index(pick.source), pick.key] }
        }
      end

      def messages(request)
        messages = Messages.new(request, host:, session: @session)
        rows(request).map { |row| prepared(messages.with(row)) }
      end

      # Those that are taken in turn; one that is empty where all values are the client's.
      def rows(request)
        others = request.templated? ? Template.new(request).names.reject { |name| @session&.place(name) } : []
        others.any? ? @mix.rows(@seed) : [{}]
      end

      def prepared(message)
        @prepared_bytes += Array(message).sum(&:bytesize)
        return message if @prepared_bytes <= PREPARED_BYTES_MAX
        raise UsageError, "filled in from the data file, the requests take more than " \
          "#{PREPARED_BYTES_MAX / Units::MIB} MiB; use fewer rows, shorter bodies, or fewer lines with {{names}}"
      end

      def ns(seconds) = (seconds * Units::NS_PER_S).round
    end
  end
end
