# frozen_string_literal: true

require "json"

module Accuracy
  # What one tool said of one run of a workload, beside the truth. Errors are in per cent of the workload's wall time. Pure.
  #
  # wall_ns, truth, doubts: see Truth; reported: part => ns; covers: part => our parts; extras: wall_ns and residual_ns of ours
  Sample = Data.define(:wall_ns, :truth, :doubts, :reported, :covers, :extras, :version) do
    # @param text [String] JSON of a child
    # @param covers [Hash{Symbol => Array<Symbol>}]
    def self.parse(text, covers:)
      said = JSON.parse(text, symbolize_names: true)
      wall_ns, truth, doubts = said.fetch(:truth).values_at(:wall_ns, :parts, :doubts)
      new(wall_ns:, truth:, doubts:, covers:, **said.slice(:reported, :extras, :version))
    end

    # @return [Float, nil] signed; nil when the tool doesn't tell
    def error_percent(part)
      percent(reported[part] - truth.values_at(*covers.fetch(part)).sum) if reported[part]
    end

    # @return [Float] how far the truth may be off
    def doubt_percent(part) = percent(doubts.values_at(*covers.fetch(part)).compact.sum)

    # @return [Float, nil] of the tool's own wall time
    def wall_error_percent = (percent(extras[:wall_ns] - wall_ns) if extras[:wall_ns])

    # @return [Float, nil] what the tool says it can't account for
    def residual_percent = (percent(extras[:residual_ns]) if extras[:residual_ns])

    private

    def percent(ns) = ns * 100.0 / wall_ns
  end

  # A run without an answer.
  #
  # kind: "crashed" or "hung"; reason: in one line
  Failure = Data.define(:kind, :reason) do
    # @param output [String] of a child
    # @param status [Process::Status]
    # @return [Failure] how it ended and the first thing it said, without the folders of this machine
    def self.of_child(output, status)
      how = status.signaled? ? "killed by SIG#{Signal.signame(status.termsig)}" : "status #{status.exitstatus}"
      said = output.scrub.lines.map(&:strip).find { |line| !line.empty? }
      new(kind: "crashed", reason: [how, said&.gsub(%r{(?:/[^\s:/]+)+/}, "")&.slice(0, 100)].compact.join(", "))
    end
  end
end
