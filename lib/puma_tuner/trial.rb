# frozen_string_literal: true

module PumaTuner
  # Another number of threads tried on a running server, by its own traffic: one worker at a time has it (the canary),
  # while its fellows serve the same traffic with what is configured, and are what it is held against. The role goes
  # round, as workers are never alike.
  #
  # Server finds a server, reads its ledgers and orders threads (Probe::Resize obeys). Plan says who is when the canary.
  # Decision ends a trial that does harm, and Outcome tells what came of it: pure functions of a Plan and Readings, so
  # that a Journal can be replayed. Run joins them. Automatic goes on from trial to trial as Step decides by what
  # Forecaster forecasts, with a journal of its own.
  module Trial
    PumaTuner.autoload_folder(self, "#{__dir__}/trial", automatic: %i[Automatic Forecaster],
      journal: %i[Journal JournalLines],
      outcome: %i[Outcome Spans], reading: %i[Reading WorkerReading], step: %i[Situation Step])
  end
end
