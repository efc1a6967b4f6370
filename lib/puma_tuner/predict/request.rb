# frozen_string_literal: true

module PumaTuner
  module Predict
    # A simulated request under way, and what it has met so far.
    class Request
      attr_reader :connection, :demand, :sent_ns
      attr_accessor :queue_ns, :gvl_wait_ns

      # @param demand [Model::Demand] of the recorded request it replays
      def initialize(connection, demand, sent_ns)
        @connection = connection
        @demand = demand
        @sent_ns = sent_ns
        @queue_ns = 0
        @gvl_wait_ns = 0
      end
    end
  end
end
