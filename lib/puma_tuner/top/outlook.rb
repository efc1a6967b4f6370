# frozen_string_literal: true

require "json"

module PumaTuner
  module Top
    # What a setting would do under the traffic of now. unsteady: a Statement, why it has no steady state, and so no
    # figures; nil where it has one
    OutlookSetting = Document.define(:topology, :throughput_per_s, :p99_ns, :unsteady,
      nested: {topology: Topology, throughput_per_s: Stats::Estimate, p99_ns: Stats::Estimate, unsteady: Statement})

    # The forecasts of settings next to today's.
    #
    # settings: Array<OutlookSetting>, today's first; empty where there is a why_not
    # requests_count: recorded, on which they rest, in a window of window_ns that ended at at (ISO 8601)
    # why_not: "few_requests", "not_reproduced", "ours" (a command of ours records this server) or "failed"; nil
    # detail: a text on that, or nil
    Outlook = Document.define(:settings, :requests_count, :window_ns, :at, :why_not, :detail,
      nested: {settings: [OutlookSetting]}) do
      # @return [Outlook] of nothing
      def self.none(why_not, detail: nil, requests_count: 0, window_ns: 0)
        new(settings: [].freeze, requests_count:, window_ns:, at: Time.now.utc.iso8601, why_not:, detail:)
      end

      # @return [OutlookSetting, nil]
      def today = settings.first
    end

    # Runs in a process of its own, with the lowest priority: it records what the server serves for a window, forecasts
    # today's setting and those with a thread or a worker more or less, and begins anew, until nobody reads it any more.
    class Forecaster
      # So many windows without enough requests are told as such.
      WINDOWS_MAX = 6

      # What it says is told by these keys, each in a line of JSON.
      OUTLOOK, SNAPSHOT, NO_SNAPSHOT = "outlook", "snapshot", "no_snapshot"

      class << self
        # Is told by the first line of standard input what to look at, and by the following ones where to put a
        # snapshot.
        # @return [void]
        def main
          settings = JSON.parse($stdin.gets || exit!(0), symbolize_names: true)
          Process.setproctitle("puma_tuner top, forecasts of #{settings.fetch(:pid)}")
          Process.setpriority(Process::PRIO_PROCESS, 0, ServerForecast::NICEST)
          RubyVM::YJIT.enable if defined?(RubyVM::YJIT.enable)
          paths = Queue.new
          Thread.new { orders(paths) }
          window_s = settings.delete(:window_s)
          new(Server.new(**settings, identity: nil, folder: nil, ours: false), paths:, window_s:).call
        end

        private

        # The command has gone, however it went, when its pipe ends.
        def orders(paths)
          $stdin.each_line(chomp: true) { |path| paths << path }
        ensure
          exit!(0)
        end
      end

      # @param server [Server]
      # @param window_s [Numeric]
      # @param paths [Queue] of files for snapshots
      # @param out [IO]
      def initialize(server, window_s:, paths: Queue.new, out: $stdout)
        @server = server
        @reader = Reader.new(server)
        @window_s = window_s
        @paths = paths
        @out = out
      end

      # Never returns.
      def call
        loop do
          began_s, began_cpu_s = Clock.now_s, cpu_s
          say(OUTLOOK, once.to_document)
          wait(ServerForecast.rest_s(cpu_s - began_cpu_s, Clock.now_s - began_s))
        end
      rescue Errno::EPIPE
        nil
      end

      # Records for a window, and forecasts.
      # @return [Outlook]
      def once
        begin_window
        WINDOWS_MAX.times do
          wait(@window_s)
          break if requests_count(@reader.take) - requests_count(@reading) >= ServerForecast::LEAST_REQUESTS_COUNT
        end
        outlook(@kept = observation(whole: false))
      rescue InvalidMeasurement
        @kept = nil
        Outlook.none("few_requests", window_ns: Clock.now_ns - @since.at_ns)
      end

      # @param observation [Probe::Observation]
      # @return [Outlook]
      def outlook(observation)
        found = {requests_count: observation.requests_count, window_ns: observation.duration_ns}
        why_not = observation.why_no_extension
        return Outlook.none("failed", detail: why_not, **found) if why_not
        if observation.requests_count < ServerForecast::LEAST_REQUESTS_COUNT
          return Outlook.none("few_requests", **found)
        end
        sweep = sweep(ServerForecast.thinned(observation))
        return Outlook.none("not_reproduced", **found) unless sweep.trusted?
        Outlook.new(settings: settings(sweep), at: Time.now.utc.iso8601, why_not: nil, detail: nil, **found)
      rescue InvalidMeasurement, UsageError => error
        Outlook.none("failed", detail: error.message, **found)
      end

      private

      def cpu_s = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)

      def say(kind, fact)
        @out.puts(JSON.generate({kind => fact}))
        @out.flush
      end

      def begin_window
        @server.ledgers.begin_window
        @reading = @reader.take
        @since = Probe::Snapshot::Moment.new(ledgers: @reading.ledgers, at_ns: @reading.at_ns,
          cpu_ns: @reading.processes.to_h { |process| [process.pid, process.cpu_ns] },
          run_queue_waits: Probe::Processes.run_queue_waits(@reading.processes.map(&:pid)))
      end

      # Meanwhile snapshots are written that somebody asks for.
      def wait(seconds)
        until_s = Clock.now_s + seconds
        while (left_s = until_s - Clock.now_s).positive?
          path = @paths.pop(timeout: left_s)
          snapshot(path) if path
        end
      end

      def snapshot(path)
        observation = begin
          self.observation
        rescue InvalidMeasurement
          @kept
        end
        few = observation.nil? || traces_count(observation) < ServerForecast::LEAST_REQUESTS_COUNT
        observation = @kept if @kept && few
        return say(NO_SNAPSHOT, nil) unless observation
        Document.write(observation, path)
        say(SNAPSHOT, {path:, requests_count: observation.requests_count})
      rescue UsageError => error
        say(NO_SNAPSHOT, error.message)
      end

      def traces_count(observation) = observation.endpoints.sum { |endpoint| endpoint.traces.size }

      def requests_count(reading)
        reading.totals.sum { |(kind, _), entry| (kind == :request) ? entry.counts.first : 0 }
      end

      # With the traces of those that still write, by the ids that their processes have here.
      #
      # @param whole [Boolean] whether it has how each part was spread, which no forecast asks for
      def observation(whole: true)
        reading = @reader.take(traced: !whole)
        living = reading.processes.to_h { |process| [process.path, process.pid] }
        ledgers = reading.ledgers.to_h do |path, ledger|
          pid = living[path] or next [path, ledger.with(pid: 0)]
          [path, ((whole && Probe::Ledger.read(path)) || ledger).with(pid:)]
        end
        plain(Probe::Snapshot.of(ledgers, machine: Probe::MachineFacts.read(@server.pid), since: @since))
      end

      # What is in a document is no histogram of ours.
      def plain(observation)
        works = [observation.endpoints, observation.jobs].map do |list|
          list.map { |work| work.with(latency: PackedHistogram.plain(work.latency)) }.freeze
        end
        observation.with(endpoints: works.first, jobs: works.last)
      end

      # What can't be served at today's setting came from clients who wait, or it would not have been served at all.
      def sweep(observation)
        workload = Model::WorkloadFit.workload(observation)
        found = sweep_of(workload, observation)
        return found if found.at(found.today).steady? || !workload.arrivals.open?
        sweep_of(workload.with(arrivals: Model::WorkloadFit.waiting(observation)), observation)
      end

      def sweep_of(workload, observation)
        scenarios = Top.neighbours(workload.observed_topology)
          .map { |topology| Predict::Scenario.as_recorded(workload, topology) }
        ServerForecast.sweeper(workload, observation).call(scenarios)
      end

      def settings(sweep)
        Top.neighbours(sweep.today).map { |topology|
          forecast = sweep.at(topology)
          OutlookSetting.new(topology:, throughput_per_s: forecast.throughput_per_s, p99_ns: forecast.p99_ns,
            unsteady: forecast.unsteady)
        }.freeze
      end
    end

    # The forecaster's process, as the command has it.
    class Forecasts
      # @return [Outlook, nil] the newest; nil before the first
      attr_reader :outlook

      # @param server [Server]
      # @param window_s [Numeric]
      def initialize(server, window_s:)
        @server = server
        @window_s = window_s
        @left = +""
        @outlook = Outlook.none("ours") if server.ours
      end

      # A recording that a command of ours makes must not begin anew.
      # @return [void]
      def start
        return if @server.ours
        input, @orders = IO.pipe
        @said, output = IO.pipe
        @child = Host::Child.new({"RUBYOPT" => nil, "RUBYLIB" => nil}, RbConfig.ruby, "-E", "UTF-8", "-I",
          LIBRARY_PATH, "-rpuma_tuner", "-e", "PumaTuner::Top::Forecaster.main", in: input, out: output, err: output)
        @child.start
        [input, output].each(&:close)
        settings = {pid: @server.pid, directory: @server.directory, window_s: @window_s}
        @orders.puts(JSON.generate(settings))
      end

      # @return [IO, nil] readable when there is news
      def io = @said

      # Takes what was said meanwhile, and waits for nothing.
      # @return [void]
      def take
        return unless @said
        while (part = @said.read_nonblock(65_536, exception: false)).is_a?(String)
          @left << part
        end
        while (line = @left.slice!(/\A.*\n/))
          hear(Probe::Processes.text(line))
        end
        ended if part.nil?
      end

      # @param path [String] where an observation of the last window goes
      # @return [void]
      def write_snapshot(path)
        @orders.puts(path)
      rescue Errno::EPIPE
        nil # which `take` finds out
      end

      # @return [Statement, nil] what came of the last snapshot, once: :snapshot (path, requests_count) or :no_snapshot
      #   (detail)
      def take_snapshot = @snapshot.tap { @snapshot = nil }

      # @return [Integer, nil] of the process so far
      def cpu_ns = (Probe::Processes.cpu_ns(@child.pid) if @child&.alive?)

      # @return [void]
      def stop
        @child&.stop
        [@orders, @said].each { |io| io&.close }
      end

      private

      def hear(line)
        kind, fact = JSON.parse(line).first
        case kind
        when Forecaster::OUTLOOK then @outlook = Outlook.from_document(fact)
        when Forecaster::SNAPSHOT then @snapshot = Statement.of(:snapshot, **fact.transform_keys(&:to_sym))
        when Forecaster::NO_SNAPSHOT then @snapshot = Statement.of(:no_snapshot, detail: fact)
        end
      rescue JSON::ParserError
        @complaint ||= line
      end

      def ended
        @said.close
        @said = nil
        @outlook = Outlook.none("failed", detail: @complaint || "its process has ended")
      end
    end
  end
end
