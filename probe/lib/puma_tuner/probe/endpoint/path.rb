# frozen_string_literal: true

module PumaTuner
  module Probe
    class Endpoint
      # Takes the variable parts out of paths. All of it is judgement: it would rather put two endpoints under one name
      # than give each visitor's data a name of its own.
      module Path
        NAME_BYTES_MAX = 120
        PATH_BYTES_MAX = 1_000
        SEGMENT_MAX = 40

        # A segment with any other character (%, @, =, +, bytes beyond ASCII) was not written by a router's author.
        WORD = /\A[\w.~*-]+\z/n
        EXTENSION = /(?<=.)(?:\.[a-z][a-z0-9]{0,4}){1,2}\z/n
        # Numbers, dates, "12-a-title", UUIDs, long hexadecimal words.
        VARIABLE = /\A-?\d[\d._-]*\z|\A\d+-|\d{5}|\h{8}-\h{4}-\h{4}|\h{12}/n
        NUMBER = /\A\d{1,12}\z/n
        # Tokens and short identifiers jump between digits and cases; words don't.
        JUMP = /[a-z](?=[A-Z\d])|\d(?=[A-Za-z])|[A-Z](?=\d)/n
        TOKEN_MIN = 8

        # Long tokens may have fewer of these (base 32, base 36), or are written in letters alone. What words do not
        # have: digits in their middle again and again, single letters between capitals, five consonants in a row.
        LONG_WORD = /[A-Za-z\d]{16,}/n
        ODDITY = /\d(?=[A-Za-z])|[A-Za-z](?=\d)|[a-z](?=[A-Z][A-Z\d])|[A-Z\d](?=[a-z][A-Z\d])/n
        DIGIT = /\d/n
        CONSONANTS = /[b-df-hj-np-tv-xz]{5}|[B-DF-HJ-NP-TV-XZ]{6}/n
        ALL_KINDS = /\A(?=.*[a-z])(?=.*[A-Z])(?=.*\d).{16,}/mn

        PARAMETER_NAME = /\A[A-Za-z_]\w{0,30}\z/
        UNPRINTABLE = /[[:cntrl:]\p{Cf}\u2028\u2029]/

        class << self
          # @param path [String, nil] of any encoding
          # @param parameters [Hash, nil] what a router found in the path, in
          #   its order: these parts are called by their names
          # @return [String] without a slash at the end: "" for the root
          def name(path, parameters = nil)
            path = path.to_s.byteslice(0, PATH_BYTES_MAX).b
            named = +""
            parameters&.reverse_each do |key, value|
              found = position(path, value) or next
              named.prepend("/:#{PARAMETER_NAME.match?(key) ? key : "id"}",
                segments(path[(found + value.bytesize + 1)..]))
              path = path[0, found]
            end
            (segments(path) + named).force_encoding(Encoding::UTF_8)
          end

          # @param segment [String] of a path
          # @return [Boolean] whether it is a word, or a number: nobody's secret
          def plain?(segment) = NUMBER.match?(segment.b) || segment(segment.b) == segment.b

          # @return [String] where the app is mounted, as far as env still says it
          def mount(env)
            script_name = env["SCRIPT_NAME"]
            (script_name.nil? || script_name.empty?) ? "" : name(script_name, Parameters.of(env))
          end

          # @return [String] "/:id" and the like
          def segments(path) = path.split("/").reject(&:empty?).map { |segment| "/#{segment(segment)}" }.join

          # @return [String] frozen: UTF-8, on one line, short
          def printable(name)
            text = String.new(name.byteslice(0, PATH_BYTES_MAX), encoding: Encoding::UTF_8).scrub("?")
              .gsub(UNPRINTABLE, "?")
            text = "#{text.byteslice(0, NAME_BYTES_MAX - "…".bytesize).scrub("")}…" if text.bytesize > NAME_BYTES_MAX
            text.freeze
          end

          private

          # Returns where the path holds this value as a whole segment, or several. It searches from the right, as
          # values come in path order.
          def position(path, value)
            return unless value.is_a?(String) && !value.empty?
            found = path.rindex("/#{value}".b) or return
            after = found + value.bytesize + 1
            found if after == path.size || path[after] == "/"
          end

          def segment(text)
            return ":id" unless WORD.match?(text)
            extension = text[EXTENSION] || ""
            stem = text.delete_suffix(extension)
            variable?(stem) ? ":id#{extension}" : text
          end

          def variable?(stem)
            stem.size > SEGMENT_MAX || VARIABLE.match?(stem) || token?(stem)
          end

          def token?(stem) = (stem.size >= TOKEN_MIN && stem.scan(JUMP).size >= [3, stem.size / 4].max) || random?(stem)

          def random?(stem)
            if stem.scan(LONG_WORD)
                .any? { |word| word.scan(ODDITY).size > (DIGIT.match?(word) ? 1 : 3) || CONSONANTS.match?(word) }
              return true
            end
            ALL_KINDS.match?(stem) && stem.scan(ODDITY).size > 2
          end
        end
      end
    end
  end
end
