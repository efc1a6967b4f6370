# frozen_string_literal: true

require_relative "journal"

module CspCollector
  # What Puma refuses by itself, before the app hears of it, under the app's rules: counted, logged without anything of the
  # client's, and within a limit of time. Puma's own messages go off standard output, which belongs to the reports, and it
  # ends when it is told to.
  #
  # Puma has no options for these; what is overridden is as Puma 8.0 has it.
  module PumaGuard
    class << self
      attr_reader :journal, :reading_limit_s

      # @param journal [Journal]
      # @param reading_limit_s [Numeric] from a request's first byte to its last
      def install(journal, reading_limit_s:)
        @journal = journal
        @reading_limit_s = reading_limit_s
        Puma::Client.prepend(ReadingLimit)
        Puma::LogWriter.prepend(Messages)
        Puma::Server.prepend(Ending)
      end
    end

    # Puma's own limit begins anew with every byte, so that a client who sends one now and then would never be done with.
    module ReadingLimit
      def set_timeout(seconds)
        super
        return if can_close? # between two requests: nothing of one has come
        @reading_limit_at ||= Process.clock_gettime(Process::CLOCK_MONOTONIC) + PumaGuard.reading_limit_s
        @timeout_at = @reading_limit_at if @timeout_at > @reading_limit_at
      end

      def reset
        @reading_limit_at = nil
        super
      end

      def timeout!
        PumaGuard.journal.refused(408, "slow") if in_data_phase
        super
      end
    end

    # Puma's own lines for errors quote the request, in several lines if the request has several.
    module Messages
      def parse_error(error, client)
        status = error.is_a?(Puma::HttpParserError501) ? 501 : (client.error_status_code || 400)
        PumaGuard.journal.refused(status, (status == 413) ? "body_bytes" : "http")
      end

      def unknown_error(error, _client = nil, text = "Unknown error")
        PumaGuard.journal.event("error", "text" => text, "class" => error.class.name, "at" => error.backtrace&.first)
      end

      private

      def internal_write(text) = PumaGuard.journal.event("puma", "message" => text.chomp)
    end

    # A signal handler of Puma's writes into a pipe, and the thread at its other end closes that. With Ruby 3.4, IO#close
    # waits for whoever is still within the write, and a handler can't be told: of 140 stops, 8 never ended. A thread can.
    module Ending
      private

      def notify_safely(_message) = Thread.new { super }
    end
  end
end
