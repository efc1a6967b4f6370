# frozen_string_literal: true

module Bench
  # What is printed, and a page of docs/. Generated; nothing in it is written by hand. Pure but for its date. A subclass has `results`, for the terminal,
  # and `to_s`, the whole page.
  class Page
    # @param machine [PumaTuner::Probe::MachineFacts] before the run
    # @param verdicts [Array<#outcome>]
    # @param at [Time]
    def initialize(machine:, verdicts: [], at: Time.now)
      @machine = machine
      @verdicts = verdicts
      @at = at
    end

    # @return [Array<Symbol>] :met, :missed or :not_shown, of each target
    def outcomes = @verdicts.map(&:outcome)

    private

    def facts = Provenance.line(@machine, at: @at)

    # @param parts [Array<String, nil>]
    # @return [String] with an empty line between
    def paragraphs(*parts) = "#{parts.flatten.compact.map(&:strip).join("\n\n")}\n"

    # @yield see Verdict.table
    # @return [Array<String>] none where there are none
    def targets(explained: Verdict::EXPLAINED, &) = @verdicts.empty? ? [] : ["## Targets", explained, Verdict.table(@verdicts, &)]
  end
end
