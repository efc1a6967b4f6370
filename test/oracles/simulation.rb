# frozen_string_literal: true

# The simulation in Ruby, after the same rules as the core in C (ext/puma_tuner_sim), in another language and in other shapes:
# both must take the same steps in the same order, which test/predict/twin_test.rb holds them to. What the rules are, and
# where they are from, stands in the C file of the same name.
#
# It is made of: clients (who send), workers (each with pool threads, acceptor, reactor, background threads, locks and a GVL),
# stations (what waits queue for), cores (who computes how fast) and an event queue (what happens when).
module SimulationTwin
  CODES = PumaTuner::Predict::Engine.codes
  Parts = PumaTuner::Probe::Parts

  autoload :Acceptor, "oracles/simulation/acceptor"
  autoload :Background, "oracles/simulation/background"
  autoload :Clients, "oracles/simulation/clients"
  autoload :Connection, "oracles/simulation/connection"
  autoload :Cores, "oracles/simulation/cores"
  autoload :Displaced, "oracles/simulation/displaced"
  autoload :EventQueue, "oracles/simulation/event_queue"
  autoload :Gvl, "oracles/simulation/gvl"
  autoload :Locking, "oracles/simulation/locking"
  autoload :Locks, "oracles/simulation/locks"
  autoload :OwnWork, "oracles/simulation/own_work"
  autoload :Pool, "oracles/simulation/pool"
  autoload :PoolThread, "oracles/simulation/pool_thread"
  autoload :RandomStream, "oracles/simulation/random_stream"
  autoload :Reactor, "oracles/simulation/reactor"
  autoload :Settings, "oracles/simulation/settings"
  autoload :Simulation, "oracles/simulation/simulation"
  autoload :Station, "oracles/simulation/station"
  autoload :Tally, "oracles/simulation/tally"
  autoload :Wakeups, "oracles/simulation/wakeups"
  autoload :Worker, "oracles/simulation/worker"
end
