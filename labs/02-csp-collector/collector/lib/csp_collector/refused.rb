# frozen_string_literal: true

module CspCollector
  # A request that is not accepted. Its reason is one of our own words, never the client's, so that it may be logged.
  class Refused < StandardError
    attr_reader :status, :reason

    # @param status [Integer] for the client
    # @param reason [String] for the log and the counts
    def initialize(status, reason)
      @status = status
      @reason = reason
      super("#{status} #{reason}")
    end
  end
end
