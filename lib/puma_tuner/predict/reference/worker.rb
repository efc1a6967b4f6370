# frozen_string_literal: true

module PumaTuner
  module Predict
    module Reference
      # One Puma process: threads of four kinds around one GVL, and its locks. A connection belongs to the worker that accepted it.
      class Worker
        attr_reader :index, :gvl, :pool, :acceptor, :reactor, :locks, :background

        def initialize(simulation, index)
          @index = index
          @gvl = Gvl.new(simulation)
          @acceptor = Acceptor.new(simulation, self)
          @reactor = Reactor.new(simulation, self)
          @locks = Locks.new(simulation)
          @pool = Pool.new(simulation, self)
          @background = simulation.settings.background.map { |burst_ns, gap_ns| Background.new(simulation, self, burst_ns, gap_ns) }
        end
      end
    end
  end
end
