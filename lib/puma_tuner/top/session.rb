# frozen_string_literal: true

module PumaTuner
  module Top
    # Looks at one server at an interval, and has what it finds shown: once, line by line, or on a terminal.
    class Session
      # What is told is of a window of so many intervals: figures of less would leap.
      LOOKS_COUNT = 5

      # Of a core, for looking and showing, and as much again for forecasts: what takes longer is done less often.
      MOST_RATIO = ServerForecast::MOST_RATIO

      # A single status waits so many windows for a forecast.
      OUTLOOK_WINDOWS = 2

      # A look at a time, read, and what this program and its forecaster had used by then.
      Look = Data.define(:reading, :cpu_ns, :outlook_cpu_ns)

      # What a look takes is the median of some: the first ones load and compile what they need.
      #
      # @param cpu_ns [Array<Integer>] that this program had used by each of the last looks
      # @param interval_s [Numeric] that is wanted
      # @return [Numeric] seconds until the next look
      def self.pause_s(cpu_ns, interval_s)
        return interval_s if cpu_ns.size <= LOOKS_COUNT
        median_ns = cpu_ns.each_cons(2).map { |one, two| two - one }.sort[(cpu_ns.size - 1) / 2]
        [interval_s, median_ns / Units::NS_PER_S.to_f / MOST_RATIO].max
      end

      # @param server [Server]
      # @param interval_s [Numeric] between two looks
      def initialize(server, interval_s:)
        @server = server
        @interval_s = interval_s
        @forecasts = Forecasts.new(server, window_s: interval_s * LOOKS_COUNT)
        @reader = Reader.new(server)
        @looks = []
        @slow_profile = SlowProfile.new(server)
        @files = []
      end

      # @return [Array<Array(String, String)>] kind and path of files that were written
      attr_reader :files

      # @yield while forecasts are made
      # @return [Object] the block's
      def open
        @forecasts.start
        look
        yield self
      ensure
        @profiling&.kill&.join
        @forecasts.stop
      end

      # @return [Status, nil] after a window, with the forecast if that comes in time; nil when the server has ended
      def once
        sleep(@interval_s * LOOKS_COUNT)
        deadline_s = Clock.now_s + @interval_s * LOOKS_COUNT * OUTLOOK_WINDOWS
        until @forecasts.outlook || Clock.now_s > deadline_s
          @forecasts.io&.wait_readable([deadline_s - Clock.now_s, 0].max)
          @forecasts.take
        end
        status if look
      end

      # A status after each interval, until the server ends.
      # @yieldparam status [Status]
      # @return [void]
      def each
        loop do
          sleep(pause_s)
          @forecasts.take
          return unless look
          yield status
        end
      end

      # Draws on a terminal until somebody quits, or the server ends.
      #
      # @param terminal [Terminal]
      # @param color [Boolean]
      # @yieldparam kind [String] "observation" or "profile"
      # @yieldreturn [String] where a file of that kind goes
      # @return [Boolean] whether the server is there still
      def draw(terminal, color:, &path)
        view = View.first
        due_s = Clock.now_s + FIRST_S
        now = status
        loop do
          rows, columns = terminal.size
          terminal.draw(Screen.new(rows:, columns:, color:).lines(now, view))
          view, action = pressed(terminal.keys(due_s - Clock.now_s, [@forecasts.io].compact), view, now)
          return true if action == :quit
          view = ask_for_snapshot(view, &path) if action == :snapshot
          view = profile(view, view.focus(now), &path) if action == :profile
          view = told(view)
          next unless Clock.now_s >= due_s
          return false unless look
          now = status
          due_s = Clock.now_s + pause_s
        end
      rescue EOFError, Errno::EIO
        true # the terminal has gone, and nobody looks any more
      end

      # @return [Status] of the window that the last look ended
      def status
        first, last = @looks.first, @looks.last
        Status.of(@server, first.reading, last.reading)
          .with(outlook: @forecasts.outlook, recommendation: @server.recommendation, cost: cost(first, last))
      end

      # Looks at the server.
      # @return [Look, nil] nil when it has ended
      def look
        return unless @server.alive?
        @looks << Look.new(reading: @reader.take, outlook_cpu_ns: @forecasts.cpu_ns,
          cpu_ns: Clock.cpu_ns)
        @looks.shift if @looks.size > LOOKS_COUNT + 1
        @looks.last
      rescue Errno::ENOENT
        raise if @server.alive?
      end

      private

      # The first figures are there soon.
      FIRST_S = 0.5
      private_constant :FIRST_S

      def pause_s = Session.pause_s(@looks.map(&:cpu_ns), @interval_s)

      def cost(first, last)
        ns = last.reading.at_ns - first.reading.at_ns
        return unless ns.positive?
        Cost.new(status_ratio: (last.cpu_ns - first.cpu_ns).fdiv(ns), outlook_ratio: outlook_ratio(first, last))
      end

      # Since the first forecast, once there is one: a window of looks may have one in it or none.
      def outlook_ratio(first, last)
        return unless last.outlook_cpu_ns
        @forecast ||= last if @forecasts.outlook
        first = @forecast if @forecast && !@forecast.equal?(last)
        ns = last.reading.at_ns - first.reading.at_ns
        (last.outlook_cpu_ns - first.outlook_cpu_ns.to_i).fdiv(ns)
      end

      def pressed(keys, view, now)
        keys.inject([view, nil]) do |(after, action), key|
          action ? (next [after, action]) : after.press(key, now)
        end
      end

      def ask_for_snapshot(view)
        return view.with(message: Statement.of(:no_recording)) unless @forecasts.io
        @forecasts.write_snapshot(yield("observation"))
        view.with(message: Statement.of(:snapshot_begun))
      end

      # Beside what is drawn, which goes on.
      def profile(view, endpoint)
        return view.with(message: Statement.of(:none_ended)) unless endpoint
        return view if @profiling
        path = yield("profile")
        @profiling = Thread.new { @slow_profile.call(endpoint, path) }
        view.with(message: Statement.of(:profile_begun, endpoint:))
      end

      def told(view)
        @forecasts.take
        news = [["observation", @forecasts.take_snapshot], ["profile", profiled]].select(&:last)
        news.each { |kind, said| @files << [kind, said.facts.fetch("path")] if said.facts.key?("path") }
        news.any? ? view.with(message: news.last.last) : view
      end

      def profiled
        return if @profiling.nil? || @profiling.alive?
        @profiling.value.tap { @profiling = nil }
      end
    end
  end
end
