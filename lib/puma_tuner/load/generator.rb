# frozen_string_literal: true

require "ipaddr"
require "uri"

module PumaTuner
  module Load
    # The base of every load generator: a subclass says whether it can work here (`why_not`), what it is (`name`, with
    # its version) and sends a load (`send_load`), or refuses one that it can't send. Native is the gem's own;
    # benchmarks hold others beside it.
    #
    # Load goes to this machine only, unless it is said that another is meant. What it would do to somebody else's is no
    # experiment.
    class Generator
      # @return [String, nil] why it cannot work here and what to do; nil when it can
      def why_not = raise(NotImplementedError)

      def available? = why_not.nil?

      # @return [Boolean] whether its outcomes add up: what comes of several loads is what would have come of one
      def adds_up? = false

      # @return [Boolean] whether it can send set-up lines, and keep what clients learn
      def sets_up? = false

      # @return [String] name and version
      def name = raise(NotImplementedError)

      # Sends requests as `arrivals` says. Warming up is the caller's. However it ends, nothing keeps running.
      #
      # @param mix [Mix]
      # @param url_base [String] "http://127.0.0.1:PORT", or "unix:///path/of/socket" where the tool can do that
      # @param connections_count [Integer] 1 or more; of an open loop, the most that may be open
      # @param duration_s [Numeric] above 0; rounded up to what the tool can do
      # @param seed [Integer] of the order of requests, and of arrivals
      # @param arrivals [Arrivals]
      # @param anywhere [Boolean] whether another machine may be meant
      # @param clients [Clients, nil] that are set up for this server; nil: it begins with the mix's set-up lines
      # @return [Outcome]
      # @raise [UsageError] for anything but this machine, and for what the tool can't do
      # @raise [LoadToolFailed] when the tool is missing or gives no response
      def run(mix:, url_base:, connections_count:, duration_s:, seed:, arrivals: Arrivals.closed, anywhere: false,
        clients: nil)
        ensure_sense(mix, url_base, connections_count, anywhere)
        raise UsageError, "a load needs some time, got #{duration_s} s" unless duration_s.positive?
        url_base = url_base.delete_suffix("/")
        session = mix.set_up.any? ? {clients:} : {}
        send_load(mix:, url_base:, connections_count:, duration_s:, seed:, arrivals:, **session)
          .with(url: url_base, seed:, think_ns: (arrivals.think_ns unless arrivals.open?))
      end

      # Lets each client send the mix's set-up lines.
      #
      # @return [Clients]
      # @raise [InvalidMeasurement] when a response is not as it must be
      def set_up(mix:, url_base:, connections_count:, seed:, anywhere: false)
        ensure_sense(mix, url_base, connections_count, anywhere)
        send_set_up(mix:, url_base: url_base.delete_suffix("/"), connections_count:, seed:)
      end

      private

      def ensure_sense(mix, url_base, connections_count, anywhere)
        ensure_address(url_base, anywhere)
        unless connections_count.positive?
          raise UsageError, "a load needs at least one connection, got #{connections_count}"
        end
        raise LoadToolFailed, why_not if why_not
        raise UsageError, "#{name} can't send set-up lines. Our own can do it." if mix.set_up.any? && !sets_up?
      end

      def ensure_address(url_base, anywhere)
        return if url_base.start_with?("unix:")
        url = URI.parse(url_base)
        unless plain?(url)
          raise UsageError, "load can't be sent to #{Host::Masking.paths(url_base)}; " \
            "give a URL without a path, such as http://127.0.0.1:9292"
        end
        return if anywhere || loopback?(url.hostname)
        raise UsageError, "load is sent to this machine only, and this is another: #{Host::Masking.paths(url_base)}; " \
          "give a URL such as http://127.0.0.1:9292. `puma_tuner load --anywhere` sends it " \
          "elsewhere: only to what is yours"
      rescue URI::Error
        raise UsageError, "#{Host::Masking.paths(url_base).inspect} is not a URL; give one such as " \
          "http://127.0.0.1:9292"
      end

      def plain?(url)
        url.instance_of?(URI::HTTP) && url.hostname && ["", "/"].include?(url.path) &&
          [url.userinfo, url.query, url.fragment].none?
      end

      def loopback?(host)
        host == "localhost" || IPAddr.new(host).loopback?
      rescue IPAddr::Error
        false
      end
    end
  end
end
