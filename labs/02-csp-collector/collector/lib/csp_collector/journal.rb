# frozen_string_literal: true

require "json"
require "time"

module CspCollector
  # What a collecting process tells of itself: counts, and a line of JSON on standard error for what it refuses.
  #
  # A flood of bad requests must not become a flood of log: beyond some lines a second they are only counted, and the next
  # line that is written says how many those were. A reader of standard error who has stopped reading costs lines, not answers.
  class Journal
    LINES_PER_S = 100

    # @param io [IO]
    # @param lines_per_s [Integer] at most
    # @param clock [#call] wall time
    def initialize(io = $stderr, lines_per_s: LINES_PER_S, clock: -> { Time.now })
      @io = io
      @lines_per_s = lines_per_s
      @clock = clock
      @mutex = Mutex.new
      @accepted_count = 0
      @refused_counts = Hash.new(0)
      @second = nil
      @lines_count = 0
      @unwritten_count = 0
    end

    # @param reports_count [Integer] written to the output
    def accepted(reports_count)
      @mutex.synchronize { @accepted_count += reports_count }
    end

    # @param status [Integer] what the client was answered
    # @param reason [String] one of our words
    def refused(status, reason)
      @mutex.synchronize do
        @refused_counts["#{status} #{reason}"] += 1
        permitted?(now = @clock.call) ? write(now, {"event" => "refused", "status" => status, "reason" => reason}) : @unwritten_count += 1
      end
    end

    # Takes no lock: Puma tells of its end from a signal handler, where none may be taken.
    # @param name [String]
    # @param facts [Hash{String => Object}] nothing that a client sent
    def event(name, facts = {}) = write(@clock.call, {"event" => name, **facts})

    # @return [Hash] since this process began
    def counts
      @mutex.synchronize { {"accepted_reports_count" => @accepted_count, "refused_counts" => @refused_counts.dup} }
    end

    private

    # In one write, so that lines of several threads stay apart.
    def write(now, facts)
      return @unwritten_count += 1 unless @io.wait_writable(0)
      facts = facts.merge("unwritten_count" => @unwritten_count) if @unwritten_count.positive?
      line = JSON.generate({"time" => now.getutc.iso8601(3), **facts}, ascii_only: true).gsub("\x7F", "\\u007f")
      @unwritten_count = 0
      @io.write("#{line}\n")
    rescue SystemCallError, IOError
      @unwritten_count += 1
    end

    def permitted?(now)
      @second, @lines_count = now.to_i, 0 if now.to_i != @second
      (@lines_count += 1) <= @lines_per_s
    end
  end
end
