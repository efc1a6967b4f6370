# frozen_string_literal: true

module PumaTuner
  module Prove
    # One of the things compared.
    #
    # factors: what is declared of it, {"yjit" => "on", "gem.json" => "2.8.1"}; everything else must be the same in all
    #   variants. Keys: see Factors
    # forecast: of the same, nil when none was made
    Variant = Data.define(:name, :factors, :forecast) do
      def initialize(name:, factors: {}, forecast: nil) = super(name:, factors: factors.freeze, forecast:)

      # @return [Topology, nil] what is declared of it
      def topology = factors["topology"]&.then { |text| Topology.parse(text) }
    end
  end
end
