# frozen_string_literal: true

module PumaTuner
  module Predict
    # The simulation in Ruby: the reference for the core in C, which takes the same steps in the same order. To be read, to be
    # tested against, and to stand in where the core is not there.
    #
    # It is made of: clients (who send), workers (each with pool threads, acceptor, reactor, background threads, locks and a GVL),
    # stations (what waits queue for), cores (who computes how fast) and an event queue (what happens when).
    module Reference
      autoload :Acceptor, "puma_tuner/predict/reference/acceptor"
      autoload :Background, "puma_tuner/predict/reference/background"
      autoload :Clients, "puma_tuner/predict/reference/clients"
      autoload :Connection, "puma_tuner/predict/reference/connection"
      autoload :Cores, "puma_tuner/predict/reference/cores"
      autoload :EventQueue, "puma_tuner/predict/reference/event_queue"
      autoload :Gvl, "puma_tuner/predict/reference/gvl"
      autoload :Locking, "puma_tuner/predict/reference/locking"
      autoload :Locks, "puma_tuner/predict/reference/locks"
      autoload :OwnWork, "puma_tuner/predict/reference/own_work"
      autoload :Pool, "puma_tuner/predict/reference/pool"
      autoload :PoolThread, "puma_tuner/predict/reference/pool_thread"
      autoload :RandomStream, "puma_tuner/predict/reference/random_stream"
      autoload :Reactor, "puma_tuner/predict/reference/reactor"
      autoload :Settings, "puma_tuner/predict/reference/settings"
      autoload :Simulation, "puma_tuner/predict/reference/simulation"
      autoload :Station, "puma_tuner/predict/reference/station"
      autoload :Tally, "puma_tuner/predict/reference/tally"
      autoload :Wakeups, "puma_tuner/predict/reference/wakeups"
      autoload :Worker, "puma_tuner/predict/reference/worker"
    end
  end
end
