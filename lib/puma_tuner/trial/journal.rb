# frozen_string_literal: true

require "json"

module PumaTuner
  module Trial
    # Lines of JSON, each of them in the file at once.
    class JournalLines
      # @param file [IO, nil] nil: nothing is written
      def initialize(file)
        @file = file
        # What could not be written is not to be tried again when the file is closed.
        file&.sync = true
      end

      # @param reading [Reading]
      # @param decision [Statement, nil]
      # @return [void]
      # @raise [MeasurementFailed] where there is no place for it
      def look(reading, decision) = write(reading: reading.to_document, decision: decision&.to_document)

      private

      def write(**fields)
        @file&.puts(JSON.generate(fields))
      rescue SystemCallError => error
        raise MeasurementFailed, "the journal #{@file.path} could not be written: #{error.class.new.message}. Make " \
          "room, or give another file with --journal."
      end
    end

    # A trial as lines of JSON, each written at once: what was planned, each look with what was decided, and how it
    # ended. What was decided follows from the lines before it, and can be computed anew.
    class Journal < JournalLines
      FORMAT = 1

      # One that was read.
      #
      # started_at, server_pid: see Outcome; decided: [Statement, nil] after each reading, as it was then
      Read = Data.define(:started_at, :server_pid, :plan, :readings, :decided, :ended, :restored) do
        # @return [Outcome] computed anew
        # @raise [InvalidMeasurement] where it is not what was decided then
        def replay
          again = readings.each_index.map { |place| Decision.of(plan, readings.first(place + 1)) }
          other = again.zip(decided).index { |now, then_| now != then_ }
          if other
            raise InvalidMeasurement, "after #{readings[other].at_s.round} s this version decides " \
              "#{again[other]&.kind || "to go on"}, where #{decided[other]&.kind || "to go on"} was decided"
          end
          Outcome.of(plan, readings, started_at:, server_pid:, ended: again.last || ended, restored:)
        rescue *Document::MISFITS, ZeroDivisionError => error
          raise InvalidMeasurement, "what the journal holds does not fit together (#{error.message.lines.first&.chomp})"
        end
      end

      KIND = "trial_journal"

      class << self
        # @param path [String]
        # @return [Read] of a whole journal, or of one that was cut short
        # @raise [UsageError]
        def read(path)
          parsed_lines(path, KIND) do |first, rest|
            looks = rest.select { |line| line["reading"] }
            last = rest.find { |line| line.key?("restored") } || {}
            Read.new(started_at: first.fetch("started_at"), server_pid: first.fetch("server_pid"),
              plan: Plan.from_document(first.fetch("plan")),
              readings: looks.map { |line| Reading.from_document(line["reading"]) },
              decided: looks.map { |line| statement(line["decision"]) }, ended: statement(last["ended"]),
              restored: last["restored"])
          end
        end

        # @param path [String]
        # @param kind [String] of journal
        # @yieldparam first [Hash] line
        # @yieldparam rest [Array<Hash>]
        # @return [Object] the block's
        # @raise [UsageError]
        def parsed_lines(path, kind)
          lines = File.readlines(path, chomp: true, encoding: Encoding::UTF_8)
          first, *rest = lines.each_with_index.filter_map { |line, number|
            parsed(line, last: number == lines.size - 1)
          }
          unless first.is_a?(Hash) && first["kind"] == kind
            raise InvalidDocument.new(path, "it is no journal of #{NAMES.fetch(kind)}")
          end
          unless first["format"] == FORMAT
            raise InvalidDocument.new(path, Document.other_version(first, key: "format", known: FORMAT))
          end
          yield first, rest
        rescue SystemCallError => error
          raise UsageError, "cannot read #{path}: #{error.message}"
        rescue JSON::ParserError, EncodingError, *Document::MISFITS => error
          raise InvalidDocument.new(path, "it is no journal of #{NAMES.fetch(kind)}, or another version's " \
            "(#{error.message})")
        end

        # @param fields [Hash, nil]
        # @return [Statement, nil]
        def statement(fields) = fields && Statement.from_document(fields)

        private

        # The last line may have been cut short by the end of the process.
        def parsed(line, last:)
          JSON.parse(line)
        rescue JSON::ParserError
          raise unless last
        end
      end

      NAMES = {KIND => "a trial", "auto_journal" => "auto"}.freeze
      private_constant :NAMES

      # @param started_at [String] ISO 8601
      # @return [void]
      def begin(plan, started_at:, server_pid:)
        write(kind: KIND, format: FORMAT, tool_version: VERSION, started_at:, server_pid:,
          plan: plan.to_document)
      end

      # @param ended [Statement, nil]
      # @return [void]
      def end(ended, restored:) = write(ended: ended&.to_document, restored:)
    end
  end
end
