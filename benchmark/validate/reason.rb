# frozen_string_literal: true

module Validation
  # Why something is not there, for a table.
  module Reason
    # @param error [PumaTuner::Error]
    # @return [String] in one line, as a clause, and without the folders of this machine: it goes into a page
    def self.of(error) = error.message.lines.first.strip.gsub(%r{(?:/[^\s:/]+)+/}, "").delete_suffix(".")
  end
end
