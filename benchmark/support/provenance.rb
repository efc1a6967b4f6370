# frozen_string_literal: true

require "puma_tuner"

module Bench
  # What the figures of a page were made with, in one line that is the same on all pages: the commit, the day and the machine.
  module Provenance
    PATTERN = PumaTuner::Lab::Provenance::PATTERN

    # As a benchmark begins: what is changed while it runs is not what it measured.
    COMMIT = PumaTuner::Lab::Provenance.commit_of(__dir__)

    # @param machine [PumaTuner::Probe::MachineFacts] as it was before the run
    # @param commit [String] e.g. "commit `4ffeb6d` with uncommitted changes"
    # @param more [Hash] see PumaTuner::Lab::Provenance.line
    # @return [String]
    def self.line(machine, commit: COMMIT, **more) = PumaTuner::Lab::Provenance.line(machine, commit:, **more)
  end
end
