# frozen_string_literal: true

require "time"

module PumaTuner
  module AccessLog
    # Rails' own log, tagged or not. Status and time are in another line, and requests interleave, so an entry has none:
    #
    #   I, [2026-10-10T13:55:36.123456 #17]  INFO -- : [9d6b…] Started GET "/articles/42?q=a" for 192.0.2.1 at
    #   2026-10-10 13:55:36 +0000
    #   I, [2026-10-10T13:55:36.135467 #17]  INFO -- : [9d6b…] Completed 200 OK in 12ms (Views: 5.6ms | …)
    #
    # A Timer brings both together, by the process and the tags that stand before.
    module Rails
      LINE = /Started ([A-Z]+) "([^"]+)" for \S+ at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d{4})/
      LOGGER = /\A[A-Z], \[(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+) /

      COMPLETED = /Completed (\d{3})? .*?\bin (\d+(?:\.\d+)?)ms/
      PID = /\A[A-Z], \[\S+ #(\d+)\]/
      TAGS = /(?:\[[^\]]*\] ?)+\z/

      RESOLUTION_NS = Units::NS_PER_S
      TIME_RESOLUTION_NS = Units::NS_PER_MS

      # @return [Timer]
      def self.timer = Timer.new

      # @param line [String]
      # @return [Entry, nil]
      def self.entry(line)
        match = LINE.match(line) or return
        http_method, target, instant = match.captures
        at = Time.strptime(instant, "%Y-%m-%d %H:%M:%S %z")
        Entry.new(at_ns: at.to_i * Units::NS_PER_S + fraction_ns(line), http_method:, target:, status: nil)
      rescue ArgumentError
        nil # no such day
      end

      # Ruby's logger tells fractions of the same second, where it is in use.
      def self.fraction_ns(line)
        instant = line[LOGGER, 1] or return 0
        (Rational("0.#{instant.split(".").last}") * Units::NS_PER_S).round
      end
      private_class_method :fraction_ns

      # Brings the two lines of a request together. Where threads of one process log without tags, nobody can tell whose
      # a second line is: requests that were under way beside others are counted, and left out.
      class Timer
        # Some have no second line: files, an error in a middleware. They are forgotten.
        FORGOTTEN_AFTER_NS = 60 * Units::NS_PER_S
        OPEN_MAX = 10_000

        # @return [Integer] requests that interleaved with others of the same tags
        attr_reader :interleaved_count

        def initialize
          @open = {}
          @interleaved_count = 0
        end

        # @param line [String]
        # @return [Entry, nil] at a request's second line
        def call(line)
          if (entry = Rails.entry(line)) then begin_request(line, entry)
          elsif (match = COMPLETED.match(line)) then end_request(match)
          end
        end

        private

        # alone: whether no other was under way
        Open = Struct.new(:entry, :alone)
        private_constant :Open

        def begin_request(line, entry)
          list = (@open[key(line[/\A.*?(?=Started )/m].to_s)] ||= [])
          list.reject! { |one| one.entry.at_ns < entry.at_ns - FORGOTTEN_AFTER_NS }
          list.each { |one| one.alone = false }
          list << Open.new(entry, list.empty?)
          @open.shift if @open.size > OPEN_MAX
          nil
        end

        def end_request(match)
          name = key(match.pre_match)
          list = @open[name] or return
          one = list.shift
          @open.delete(name) if list.empty?
          unless one&.alone
            @interleaved_count += 1
            return
          end
          one.entry.with(status: match[1]&.to_i, app_ns: (Rational(match[2]) * Units::NS_PER_MS).round)
        end

        def key(before) = [before[PID, 1], before[TAGS]]
      end
    end
  end
end
