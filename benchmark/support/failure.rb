# frozen_string_literal: true

module Bench
  # A sample that is none.
  #
  # kind: "crashed", or "hung"; reason: in one line
  Failure = Data.define(:kind, :reason) do
    # @param output [String] of a child
    # @param status [Process::Status]
    # @return [Failure] how it ended and the first thing it said, without the folders of this machine
    def self.of_child(output, status)
      how = status.signaled? ? "killed by SIG#{Signal.signame(status.termsig)}" : "status #{status.exitstatus}"
      said = output.scrub.lines.map(&:strip).find { |line| !line.empty? }
      new(reason: [how, said&.gsub(%r{(?:/[^\s:/]+)+/}, "")&.slice(0, 100)].compact.join(", "))
    end

    def initialize(reason:, kind: "crashed") = super
  end
end
