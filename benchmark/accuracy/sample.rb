# frozen_string_literal: true

require "json"

module Accuracy
  # What one tool said of one run of a workload, beside the truth. Errors are in per cent of the workload's wall time. Pure.
  #
  # wall_ns, truth, doubts: see Truth; reported: part => ns; covers: part => our parts; extras: of ours, see Tool#extras
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

    # @return [Float, nil] of all that the tool told, against the wall time that the workload took of itself
    def wall_error_percent = (percent(extras[:wall_ns] - wall_ns) if extras[:wall_ns])

    # @return [Float] how much of what the tool watched lies before and after the workload's own clock
    def wall_doubt_percent = extras[:around_ns] ? percent(extras[:around_ns] - wall_ns) : 0.0

    # @return [Float, nil] of all that it told to be CPU, against the CPU clock that the workload read itself: right on a machine
    #   with other work, too
    def cpu_clock_error_percent
      parts = %i[cpu gc]
      percent(reported.values_at(*parts).sum - truth.values_at(*parts).sum) if reported.values_at(*parts).all?
    end

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
