# frozen_string_literal: true

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

      # Nobody's request, such as an attacker's: it has no second line, but this one, with the same path.
      NO_ROUTE = /ActionController::RoutingError \(No route matches \[[A-Z]+\] "([^"]*)"/
      # What Action Cable writes beside the line of the same request.
      WEBSOCKET = /Started GET "([^"]+)" \[WebSocket\] for /

      # What stands between is a status in words. Without a bound, a line that says "Completed" a thousand times is gone
      # through as often.
      COMPLETED = /Completed (\d{3})? .{0,100}?\bin (\d+(?:\.\d+)?)ms/
      PID = /\A[A-Z], \[\S+ #(\d+)\]/
      TAGS = /(?:\[[^\]]*\] ?)+\z/

      RESOLUTION_NS = Units::NS_PER_S
      TIME_RESOLUTION_NS = Units::NS_PER_MS

      # @return [Timer]
      def self.timer = Timer.new

      # @param lines [Enumerable<String>]
      # @yieldparam entry [Entry] each request, with its status where a later line tells whose it is
      # @return [void]
      def self.each_entry(lines, &)
        timer = Timer.new(&)
        lines.each { |line| timer.call(line)&.then(&) }
        timer.finish
      end

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
        # Some have no second line: apps that are mounted, an error in a middleware; in some logs, none has. They are
        # forgotten.
        FORGOTTEN_AFTER_NS = 60 * Units::NS_PER_S
        OPEN_MAX = 10_000

        # Action Cable's line follows soon, so that the request is among so many.
        NEWEST_COUNT = 100

        # @return [Integer] requests that interleaved with others of the same tags
        attr_reader :interleaved_count

        # @yieldparam entry [Entry] of which no line tells how it ended
        def initialize(&untold)
          @open = {}
          @open_count = 0
          @interleaved_count = 0
          @untold = untold || proc {}
        end

        # @param line [String]
        # @return [Entry, nil] at a request's second line
        def call(line)
          # The second line of a message of several has none before it.
          @pid = line[PID, 1] || @pid
          if (entry = Rails.entry(line)) then begin_request(line, entry)
          elsif (match = COMPLETED.match(line)) then end_request(match)
          elsif (match = NO_ROUTE.match(line))
            take([[@pid, match.pre_match[TAGS]]], match[1])&.with(status: 404)
          elsif (match = WEBSOCKET.match(line))
            take(@open.keys.last(NEWEST_COUNT).reverse, match[1])&.with(status: 101)
          end
        end

        # @return [void]
        def finish
          @open.each_value { |list| tell(list) }.clear
          @open_count = 0
        end

        private

        # alone: whether no other was under way
        Open = Struct.new(:entry, :alone)
        private_constant :Open

        def begin_request(line, entry)
          name = key(line[/\A.*?(?=Started )/m].to_s)
          list = (@open[name] ||= [])
          oldest_ns = entry.at_ns - FORGOTTEN_AFTER_NS
          forget_first(name, list) while list.any? && list.first.entry.at_ns < oldest_ns
          # Those behind the first were never alone.
          list.first.alone = false if list.any?
          @open[name] = list << Open.new(entry, list.empty?)
          @open_count += 1
          forget_first(*@open.first) if @open_count > OPEN_MAX
          nil
        end

        def forget_first(name, list) = tell([shift(name, list)])

        def shift(name, list)
          @open_count -= 1
          list.shift.tap { @open.delete(name) if list.empty? }
        end

        def end_request(match)
          name = key(match.pre_match)
          list = @open[name] or return
          one = shift(name, list)
          unless one.alone
            @interleaved_count += 1
            return tell([one])
          end
          one.entry.with(status: match[1]&.to_i, app_ns: (Rational(match[2]) * Units::NS_PER_MS).round)
        end

        # @param names [Array] of what is open
        # @return [Entry, nil] the one of this path, which is then open no more
        def take(names, path)
          path = path[/\A[^?]*/].chomp("/")
          names.each do |name|
            list = @open[name] or next
            place = list.rindex { |one| one.entry.path.chomp("/") == path } or next
            one = list.delete_at(place)
            @open_count -= 1
            @open.delete(name) if list.empty?
            return one.entry
          end
          nil
        end

        def tell(list) = list.each { |one| @untold.call(one.entry) }.then { nil }

        def key(before) = [before[PID, 1], before[TAGS]]
      end
    end
  end
end
