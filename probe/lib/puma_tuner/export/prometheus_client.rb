# frozen_string_literal: true

module PumaTuner
  module Export
    # Our figures among those of an app that uses the gem `prometheus-client` already: whatever renders its registry, in any of the
    # server's processes, shows ours, of all processes together.
    #
    #   PumaTuner.export(nil)                              # in puma.rb: nothing of ours listens
    #   PumaTuner::Export::PrometheusClient.register       # in config.ru
    #
    # The registry's own metrics are numbers that the app sets. Ours are read when they are rendered, so what we register are
    # objects that answer like a Prometheus::Client::Metric.
    module PrometheusClient
      # One of our metrics. type: :counter, :gauge or :histogram
      Metric = Data.define(:name, :docstring, :type) do
        # @param _labels [Hash] the registry's own use of it is to set numbers, and ours can't be set
        def get(labels: {}) = values[labels]

        # @return [Hash{Hash{Symbol => String} => Numeric, Hash{String => Numeric}}] labels to a number; of a histogram, to counts by bound
        def values
          labels = Export.server.labels
          Export.server.families.find { |family| family.name == name.to_s }.samples.to_h do |own, value|
            [labels.merge(own), value.is_a?(Buckets) ? {**value.cumulative.to_h, "sum" => value.sum_ns.fdiv(Units::NS_PER_S)} : value]
          end
        end
      end

      # @param registry [Prometheus::Client::Registry]
      # @return [void]
      def self.register(registry = nil)
        registry ||= default_registry
        Families.names.each do |family|
          registry.register(Metric.new(name: family.name.to_sym, docstring: family.help, type: family.type.to_sym))
        end
      end

      def self.default_registry
        require "prometheus/client"
        ::Prometheus::Client.registry
      rescue LoadError
        raise UserMistake, "prometheus-client is not in this bundle; add it to the Gemfile, or leave it and use PumaTuner.export with an address"
      end
      private_class_method :default_registry
    end
  end
end
