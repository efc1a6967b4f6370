# frozen_string_literal: true

module PumaTuner
  module Export
    # Our figures among those of an app that uses the gem `prometheus-client` already: whatever renders its registry, in
    # any of the server's processes, shows ours, of all processes together.
    #
    #   PumaTuner.export(nil)                              # in puma.rb: nothing of ours listens at a port
    #   PumaTuner::Export::PrometheusClient.register       # in config.ru
    #
    # The text comes from the exporter's process as it is. As metrics of the registry, thousands of numbers would have
    # to become the app's objects, and its GVL's work, at each scrape.
    module PrometheusClient
      # Prometheus::Client::Formats::Text
      module Appending
        def marshal(registry) = PrometheusClient.registered?(registry) ? super + PrometheusClient.text : super
      end

      class << self
        # @param registry [Prometheus::Client::Registry, nil] nil: the gem's own
        # @return [void]
        # @raise [UsageError] without the gem
        def register(registry = nil)
          require "prometheus/client"
          require "prometheus/client/formats/text"
          ::Prometheus::Client::Formats::Text.singleton_class.prepend(Appending)
          (@registries ||= []) << (registry || ::Prometheus::Client.registry)
        rescue LoadError
          raise UsageError, "prometheus-client is not in this bundle; " \
            "add it to the Gemfile, or use PumaTuner.export with an address instead"
        end

        # @api private
        def registered?(registry) = @registries.any? { |one| one.equal?(registry) }

        # @api private
        # @return [String] see Text; "" when the exporter does not answer, as
        #   for a moment after the server's start, and then a line says so
        def text
          address = Export.address or return say("PumaTuner.export was not called in puma.rb, or nothing is recorded")
          address.get
        rescue SystemCallError, IOError, SocketError, ArgumentError => error
          say("#{error.class}: #{error.message}")
        end

        private

        def say(why)
          Probe.say("our figures are missing among those of prometheus-client (#{why})") unless @said == why
          @said = why
          ""
        end
      end
    end
  end
end
