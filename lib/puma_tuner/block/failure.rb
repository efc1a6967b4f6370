# frozen_string_literal: true

module PumaTuner
  module Block
    # Words what the user's Ruby raised.
    module Failure
      LINES_MAX = 8

      # No place of the user's: Ruby's own, and ours.
      NOT_THEIRS = %r{\A<internal:|\A#{Regexp.escape(File.expand_path("..", __dir__))}/}

      module_function

      # @param error [Exception]
      # @param file [String] the block file, absolute
      # @return [String] "RuntimeError: boom (/path/file.rb:3)"
      def text(error, file)
        # Its message has the place in it, and the lines around.
        return lines(error.message) if error.is_a?(SyntaxError)
        placed(what(error), error, file)
      end

      # @return [String] the same for documents, without the message, which may
      #   hold anything: "RuntimeError (/path/file.rb:3)"
      def kept(error, file) = placed(ours?(error) ? what(error) : error.class.to_s, error, file)

      def placed(text, error, file) = [text, place_of(error, file)&.then { |place| "(#{place})" }].compact.join(" ")

      def ours?(error) = error.is_a?(Error) || error.is_a?(SystemExit)

      def what(error)
        case error
        when Error then error.message
        when SystemExit then "it called exit, with status #{error.status}"
        else "#{error.class}: #{lines(error.message)}"
        end
      end

      # The first line of its backtrace that is the user's, else the first.
      def place_of(error, file)
        backtrace = error.backtrace.to_a.grep_v(NOT_THEIRS)
        line = backtrace.find { |entry| entry.start_with?("#{file}:") } || backtrace.first
        line&.slice(/\A.+?:\d+/)
      end

      def lines(text) = text.scrub.lines.first(LINES_MAX).join.strip
    end
  end
end
