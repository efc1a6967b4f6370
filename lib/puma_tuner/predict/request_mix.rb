# frozen_string_literal: true

module PumaTuner
  module Predict
    # Which recorded request comes next. Whole requests are drawn, never single bursts: what belongs together in one
    # request (a cache missed, a long answer, its GC) stays together, and no distribution has to be assumed.
    class RequestMix
      # @param endpoints [Array<Model::EndpointDemand>]
      # @param random [Random]
      def initialize(endpoints, random)
        @demands = endpoints.map(&:demands)
        total = 0.0
        @upper_ratios = endpoints.map { |endpoint| total += endpoint.weight_ratio }
        @total_ratio = total
        @random = random
      end

      # @return [Model::Demand]
      def draw
        point = @random.rand * @total_ratio
        demands = @demands[@upper_ratios.index { |upper_ratio| point < upper_ratio } || -1]
        demands[(@random.rand * demands.size).to_i]
      end
    end
  end
end
