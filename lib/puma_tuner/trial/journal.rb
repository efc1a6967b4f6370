# frozen_string_literal: true

require "json"

module PumaTuner
  module Trial
    # A trial as lines of JSON, each written at once: what was planned, each look with what was decided, and how it
    # ended. What was decided follows from the lines before it, and can be computed anew.
    class Journal
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

      # @param path [String]
      # @return [Read] of a whole journal, or of one that was cut short
      # @raise [UsageError]
      def self.read(path)
        lines = File.readlines(path, chomp: true, encoding: Encoding::UTF_8)
        first, *rest = lines.each_with_index.filter_map { |line, number| parsed(line, last: number == lines.size - 1) }
        unless first.is_a?(Hash) && first["kind"] == "trial_journal" && first["format"] == FORMAT
          raise InvalidDocument.new(path, "it is no journal of a trial")
        end
        looks = rest.select { |line| line["reading"] }
        last = rest.find { |line| line.key?("restored") } || {}
        Read.new(started_at: first.fetch("started_at"), server_pid: first.fetch("server_pid"),
          plan: Plan.from_document(first.fetch("plan")),
          readings: looks.map { |line| Reading.from_document(line["reading"]) },
          decided: looks.map { |line| statement(line["decision"]) }, ended: statement(last["ended"]),
          restored: last["restored"])
      rescue SystemCallError => error
        raise UsageError, "cannot read #{path}: #{error.message}"
      rescue JSON::ParserError, EncodingError, *Document::MISFITS => error
        raise InvalidDocument.new(path, "it is no journal of a trial, or another version's (#{error.message})")
      end

      class << self
        private

        # The last line may have been cut short by the end of the process.
        def parsed(line, last:)
          JSON.parse(line)
        rescue JSON::ParserError
          raise unless last
        end

        def statement(fields) = fields && Statement.from_document(fields)
      end

      # @param file [IO, nil] nil: nothing is written
      def initialize(file)
        @file = file
      end

      # @param started_at [String] ISO 8601
      # @return [void]
      def begin(plan, started_at:, server_pid:)
        write(kind: "trial_journal", format: FORMAT, tool_version: VERSION, started_at:, server_pid:,
          plan: plan.to_document)
      end

      # @param decision [Statement, nil]
      # @return [void]
      def look(reading, decision) = write(reading: reading.to_document, decision: decision&.to_document)

      # @param ended [Statement, nil]
      # @return [void]
      def end(ended, restored:) = write(ended: ended&.to_document, restored:)

      private

      def write(**fields)
        return unless @file
        @file.puts(JSON.generate(fields))
        @file.flush
      end
    end
  end
end
