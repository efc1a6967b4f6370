# frozen_string_literal: true

module PumaTuner
  module Predict
    module Reference
      # One Puma process: threads of three kinds around one GVL. A connection belongs to the worker that accepted it.
      class Worker
        attr_reader :index, :gvl, :pool, :acceptor, :reactor

        def initialize(simulation, index)
          @index = index
          @gvl = Gvl.new(simulation)
          @acceptor = Acceptor.new(simulation, self)
          @reactor = Reactor.new(simulation, self)
          @pool = Pool.new(simulation, self)
        end
      end
    end
  end
end
