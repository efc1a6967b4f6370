# frozen_string_literal: true

require "fileutils"
require "json"

module PumaTuner
  module Labs
    # Where the variants' lines go: a file in memory for each, in the place of what would aggregate them. After every load the
    # lines are held against the answers, and thrown away.
    class CspLines
      # Files in memory where there are any, so that no disk is measured.
      PLACES = ["/dev/shm", Dir.tmpdir].freeze

      TIME = /\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\z/

      # Of one load, so many lines are read word for word; all are counted.
      READ_COUNT = 200

      # What was under way when a load ended is still written.
      SETTLED_S = 0.03
      SETTLING_LIMIT_S = 15

      # @yieldparam lines [CspLines]
      def self.open(reports)
        folder = Dir.mktmpdir("csp_lines", PLACES.find { |place| File.writable?(place) })
        yield new(folder, reports)
      ensure
        FileUtils.rm_rf(folder) if folder
      end

      # @param folder [String]
      # @param reports [Array<Hash>] those that are sent
      def initialize(folder, reports)
        @folder = folder
        @reports = reports
      end

      # @param variant [String] its name
      # @return [String] path of its file
      def path(variant) = File.join(@folder, "#{variant.gsub(/\W+/, "-")}.jsonl")

      # Throws away what has come so far, such as a server's greeting.
      def clear = files.each { |file| File.truncate(file, 0) }

      # @return [Integer] lines since the last time, all of them right; they are thrown away
      # @raise [InvalidMeasurement] when one is not
      def take(settled_s: SETTLED_S)
        settle(settled_s)
        files.sum { |file| check(file).tap { File.truncate(file, 0) } }
      end

      private

      def files = Dir[File.join(@folder, "*.jsonl")]

      def settle(settled_s)
        limit_s = now_s + SETTLING_LIMIT_S
        sizes = nil
        until sizes == (sizes = files.map { |file| File.size(file) }) || now_s > limit_s
          sleep settled_s
        end
      end

      def check(file)
        text = File.read(file, encoding: Encoding::UTF_8)
        return 0 if text.empty?
        void(file, "the last line is torn: #{text[-60..]}") unless text.end_with?("\n")
        void(file, "a line is empty, or two stand in one") if text.include?("\n\n") || text.include?("}{")
        lines = text.lines
        (lines.first(READ_COUNT / 2) | lines.last(READ_COUNT / 2)).each { |line| read(file, line) }
        lines.size
      end

      def read(file, line)
        entry = JSON.parse(line)
        return if entry.is_a?(Hash) && entry.keys == %w[time report] && TIME.match?(entry["time"]) && @reports.include?(entry["report"])
        void(file, "a line has not what was sent: #{line[0, 200]}")
      rescue JSON::ParserError
        void(file, "a line is no JSON: #{line[0, 200]}")
      end

      def void(file, problem) = raise(InvalidMeasurement, "#{File.basename(file, ".jsonl")} does not write what it should: #{problem}")

      def now_s = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end

    # Traffic whose answers are held against the lines. A server that answers 201 and writes nothing, or an error page, is none
    # that may be counted: the story's first figure was of an error page.
    class CspTraffic < SimpleDelegator
      # @param traffic [Load::Traffic]
      # @param lines [CspLines]
      def initialize(traffic, lines)
        super(traffic)
        @lines = lines
      end

      def with(**changes) = CspTraffic.new(__getobj__.with(**changes), @lines)

      def set_up(_url) = self # each line of its mix is to be counted

      # @return [Load::Outcome]
      # @raise [InvalidMeasurement] when lines and answers do not agree
      def send_to(url, duration_s:)
        @lines.clear
        outcome = super
        ensure_lines(outcome) unless outcome.complaint
        outcome
      end

      private

      # Answers to what was under way at the end of a closed loop are waited for, too.
      def ensure_lines(outcome)
        answers_count = outcome.statuses.fetch("201", 0)
        lines_count = @lines.take
        return if [outcome.requests_count, lines_count].uniq == [answers_count]
        raise InvalidMeasurement, "#{answers_count} of #{outcome.requests_count} answers were 201, and #{lines_count} lines were written. Every report that is " \
          "answered 201 has to be a line."
      end
    end

    # Traffic of the rung of error pages, the only one whose answers are no lines: each load has one status, whichever it is.
    class CspErrorTraffic < SimpleDelegator
      # Those of the rung.
      STATUSES = [201, 404, 500].freeze

      # @param traffic [Load::Traffic]
      # @return [CspErrorTraffic] the same requests, which may fail
      def self.of(traffic)
        requests = traffic.mix.requests.map { |request| request.with(expected_statuses: STATUSES) }
        new(traffic.with(mix: traffic.mix.with(requests:)))
      end

      def with(**changes) = CspErrorTraffic.new(__getobj__.with(**changes))

      def set_up(_url) = self

      # @return [Load::Outcome]
      # @raise [InvalidMeasurement] when some requests fail and others do not
      def send_to(url, duration_s:)
        outcome = super
        return outcome if outcome.complaint || outcome.statuses.size <= 1
        raise InvalidMeasurement, "a rung of error pages has answered #{outcome.statuses.map { |status, count| "#{status} #{count} times" }.join(", ")}"
      end
    end
  end
end
