# frozen_string_literal: true

module PumaTuner
  # Another number of threads tried on a running server, by its own traffic: one worker at a time has it (the canary),
  # while its fellows serve the same traffic with what is configured, and are what it is held against. The role goes
  # round, as workers are never alike.
  #
  # Server finds a server, reads its ledgers and orders threads (Probe::Resize obeys). Plan says who is when the canary.
  # Decision ends a trial that does harm, and Outcome tells what came of it: pure functions of a Plan and Readings, so
  # that a Journal can be replayed. Run joins them. Automatic goes on from trial to trial, by Forecasts, with a journal
  # of its own.
  module Trial
    autoload :Automatic, "puma_tuner/trial/automatic"
    autoload :AutomaticJournal, "puma_tuner/trial/automatic_journal"
    autoload :Decision, "puma_tuner/trial/decision"
    autoload :Forecaster, "puma_tuner/trial/automatic"
    autoload :Journal, "puma_tuner/trial/journal"
    autoload :JournalLines, "puma_tuner/trial/journal"
    autoload :Outcome, "puma_tuner/trial/outcome"
    autoload :Plan, "puma_tuner/trial/plan"
    autoload :Reading, "puma_tuner/trial/reading"
    autoload :Run, "puma_tuner/trial/run"
    autoload :Server, "puma_tuner/trial/server"
    autoload :Situation, "puma_tuner/trial/step"
    autoload :Spans, "puma_tuner/trial/outcome"
    autoload :Step, "puma_tuner/trial/step"
    autoload :WorkerReading, "puma_tuner/trial/reading"
  end
end
