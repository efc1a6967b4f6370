# frozen_string_literal: true

module PumaTuner
  module Probe
    class Endpoint
      # A route that answers in several formats has an endpoint for each that the path asks for by its end: a page and
      # the CSV of the same thing are other work. Which one an Accept header asks for is not looked at: browsers ask for
      # anything, and who has such an API can group its endpoints by that header.
      #
      # Known words only, as a client can write any. HTML is no other format: it
      # is what a path without one asks for, too.
      module Format
        WORDS = %w[json csv xml pdf xlsx xls txt md rss atom ics js zip].freeze

        # The paths that one name is for. Most have no point at all: that is told in a quarter of the time.
        PATHS = WORDS.to_h { |word| [word, /\.#{word}\z/] }.freeze
        PLAIN_PATHS = /\A[^.]*+\z/
        OTHER_PATHS = /\z(?<!#{WORDS.map { |word| "\\.#{word}" }.join("|")})/

        # @param env [Hash] of a request whose route takes a format
        # @return [Array(Regexp, String)] all paths that ask for the same one, and that; nil: none
        def self.of(env)
          path = env["PATH_INFO"].to_s
          return [PLAIN_PATHS, nil] unless path.include?(".")
          word = WORDS.find { |known| path.end_with?(".#{known}") }
          [PATHS.fetch(word, OTHER_PATHS), word]
        end
      end
    end
  end
end
