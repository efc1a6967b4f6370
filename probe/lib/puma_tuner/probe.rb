# frozen_string_literal: true

require_relative "version"

# All that runs in your server is in here, and nothing else is: see probe/README.md.
module PumaTuner
  # Has each file of a folder loaded when somebody asks for its constant, which is called like it. By whole paths: what
  # an app makes of $LOAD_PATH once the probe is there changes nothing.
  #
  # @api private
  # @param namespace [Module] of the constants
  # @param folder [String]
  # @param constants [Hash{Symbol => Array<Symbol>}] by file, those of one that has more than that, or others
  # @return [void]
  def self.autoload_folder(namespace, folder, **constants)
    Dir.glob("*.rb", base: folder) do |file|
      name = file.delete_suffix(".rb")
      names = constants.fetch(name.to_sym) { [name.split("_").map(&:capitalize).join] }
      names.each { |one| namespace.autoload(one, File.join(folder, file)) }
    end
  end

  autoload :Document, "#{__dir__}/document" # values to and from JSON
  autoload :Export, "#{__dir__}/export"     # a running server's figures, for Prometheus and OpenTelemetry
  autoload :Jobs, "#{__dir__}/jobs"         # Active Job and Sidekiq
  autoload :ProfilerMiddleware, "#{__dir__}/profiler_middleware" # profiles single requests that ask for it
  autoload :RuleOfThumb, "#{__dir__}/rule_of_thumb" # threads from the share of CPU
  autoload :ThreadLine, "#{__dir__}/thread_line" # a thread's time in one line
  autoload :Topology, "#{__dir__}/topology" # workers x threads
  autoload :Unknown, "#{__dir__}/unknown"   # what could not be known, and why
  autoload :Units, "#{__dir__}/units"       # numbers as people read them

  require_relative "atomic_file"
  require_relative "clock"
  require_relative "error"

  # Prints, from inside Puma, where each pool thread's time goes and which thread count follows from it. Call it in
  # `before_fork` or at the end of `puma.rb`; where neither that nor the command can be changed, in `config.ru`.
  #
  # @param interval_s [Numeric] seconds between two prints, 10 unless PUMA_TUNER_INTERVAL_S says otherwise; nothing is
  #   printed for an interval without requests
  # @param out [IO] where to
  # @param locks [Boolean] whether locks and pools are watched, too, which adds to the cost of each
  #   (docs/reference/measure.md)
  # @param trial [Boolean] whether `puma_tuner trial` may change how many threads a process has, for as long as it runs
  #   (docs/reference/trial.md); PUMA_TUNER_TRIAL=1 says so, too
  # @param tune [Range<Integer>, nil] how many threads `puma_tuner auto` may give each process, such as 1..8;
  #   PUMA_TUNER_TUNE=1..8 says so, too; nil: it may not. It only permits: nothing changes until somebody runs
  #   `puma_tuner auto` beside the server, and once that has ended, processes have what is configured again
  # @return [void]
  # @raise [UsageError] of a range that can't be
  def self.run(interval_s: Probe::Console.interval_s, out: $stdout, locks: false, trial: Probe.trial_wanted?,
    tune: Probe.tune_wanted)
    Probe.start(way_in: "run", console: {interval_s:, out:}, locks:, resize: Probe::Resize::Allowed.of(trial:, tune:))
  end

  # Records a piece of work that is no request: a job, a task. Inside of a request, or of another job, it only yields.
  #
  # @param name [String] of its kind; at most 200 are kept apart
  # @return [Object] what the block returns, whatever becomes of the recording
  def self.measure(name, &)
    Probe.begin_recording
    Probe.recorder.job(name, &)
  end

  # Returns where the time of this server's requests and jobs went, in all its processes, since they started.
  #
  # @return [Probe::Observation]
  # @raise [InvalidMeasurement] when none has ended yet, or nothing can be recorded here
  def self.snapshot = Probe.snapshot.take

  # Makes the figures of this server, all its processes together, available to Prometheus: `GET /metrics` at the
  # address. Call it in `puma.rb`; metrics and their names are in docs/reference/exporter.md.
  #
  # @param address [String, nil] "tcp://127.0.0.1:9394", "unix:///path/of/socket"; nil: where this server's processes
  #   alone can ask, as for an app that exports them with its own (Export::PrometheusClient)
  # @param labels [Hash{Symbol => String}] put on every sample, such as {service: "shop", yjit: "on"}
  # @param endpoints_max [Integer] endpoints kept apart, and as many kinds of jobs; all others count together
  # @param interval_s [Numeric] seconds after which each worker tells anew of its heap and of YJIT
  # @return [void]
  # @raise [UsageError] of an address or a label that can't be
  def self.export(address = "tcp://127.0.0.1:9394", labels: {}, endpoints_max: 200, interval_s: 10)
    wrong = labels.keys.reject { |name| name.match?(/\A[a-zA-Z][a-zA-Z0-9_]*\z/) } +
      (labels.keys.map(&:to_s) & Export::TAKEN_LABELS)
    if wrong.any?
      raise UsageError, "#{wrong.first.inspect} can't be a label of the exporter's; " \
        "take letters, digits and _, and none that is taken: #{Export::TAKEN_LABELS.join(", ")}"
    end
    settings = Export::Settings.new(labels: labels.to_h { |name, value| [name.to_sym, Export.utf8(value)] }.freeze,
      endpoints_max:, interval_s:)
    Export.start(address:, settings:)
  end

  # Names endpoints as the app wants it, where its routes don't say.
  #
  # @yieldparam env [Hash] the request's Rack environment, after the app has seen it
  # @yieldreturn [String, nil] the endpoint; nil: as usual. At most 200 names are kept apart.
  # @return [void]
  def self.group_endpoints(&grouping)
    Probe.grouping = grouping
  end

  # Records requests inside the process that serves them. It gives one promise: it never reaches the app. Where
  # something goes wrong, the app serves unwatched, and one line says so.
  #
  # - When: puma (who is told of what), recording (what is begun in each process), recorder (each request and job;
  #   fallback_recorder: without the extension), request_start, endpoint (their names), blocking_regions (what
  #   libraries wait for).
  # - By what: gvl_clock (the extension's methods), extension (where it is), parts (what time is divided into).
  # - Where to: ledger, ledgers (a file per process; folding and written: of those that have ended).
  # - Who reads it here: snapshot and account (an Observation), console (lines), Export.
  # - In a server that the command started: launch (settings for one run),
  #   signal_queries (what it asks), active_record_queries, yjit_off, profiling.
  # - Where the app allows it: resize (as many threads as a controller orders).
  module Probe
    # RUBYLIB of a server that is to be watched begins with this folder.
    LIBRARY_FOLDER = File.expand_path("..", __dir__)

    PumaTuner.autoload_folder(self, "#{__dir__}/probe", lanes: %i[Lane ProcessLanes],
      observation: %i[Blame Distribution EndpointObservation LoadSummary LockObservation Observation ProbeCost
        ProcessObservation ServerFacts ThreadObservation Trace], sidecar: %i[Sidecar Sidecars])

    # The recorder of a process that can't be watched, or is not. It is here, as it is asked for where the probe's
    # other files may have gone.
    module Unwatched
      def self.begin(_client) = false

      def self.finish(_client) = nil

      def self.job(_name) = yield
    end

    # After so many faults of ours a process is not watched any more.
    FAULTS_MAX = 10

    FIRST = Thread::Mutex.new

    # What a request needs, as far as it takes no library of Ruby's: loaded where Puma is, before workers are forked. A
    # release's folder may be removed while its server runs.
    EARLY = %i[ActiveRecordQueries BlockingRegions Endpoint Launch Ledgers LockedFile Processes Recorder Recording
      RequestStart Parts].freeze
    private_constant :FIRST, :EARLY

    class << self
      # @return [Recorder, FallbackRecorder, Unwatched] of this process
      def recorder
        @recorder || Unwatched
      rescue Ractor::IsolationError
        Unwatched # in other Ractors nothing is recorded
      end

      # Takes the place of the usual recorder, as in a server that is profiled: it has `begin`, `finish` and `job`.
      attr_writer :recorder

      # @return [#call, nil] the app's own names for endpoints, see PumaTuner.group_endpoints
      attr_accessor :grouping

      # Looks at every Puma server of this process and of those forked from it, from its start on.
      #
      # @param way_in [String] "command", "plugin", "run", "autorun" or "export"
      # @param directory [String, nil] where the command that measures wants the ledgers
      # @param console [Hash, nil] interval_s and out, to print the threads' lines
      # @param locks [Boolean, nil] whether locks and pools are watched, at
      #   their price: they are when any way in asks for it
      # @param resize [Resize::Allowed, nil] how many threads a controller may give each process; nil: none is obeyed
      def start(way_in:, directory: nil, console: nil, locks: nil, resize: nil)
        first = @ways.nil?
        @ways ||= {way_in:, directory: nil, console: nil, locks: nil, resize: nil}
        allow_resizing if resize && @ways[:resize].nil?
        @ways = @ways.merge({directory:, console:, locks: locks || nil, resize:}.compact)
        return unless first
        OtherHooks.name # loaded here, so that it knows a fork
        Puma.on(:Server) { load_early }
        GvlClock.install
        Puma.watch_requests
        Puma.on_worker_start { install_jobs }
        Puma.on_server_start { |server| server_starts(server) }
        Forecasting.start if console
      rescue StandardError, ScriptError => error
        say_unwatched("#{error.class}: #{error.message}")
      end

      # @return [Boolean] whether the environment allows trials
      def trial_wanted? = ENV["PUMA_TUNER_TRIAL"] == "1"

      # @return [Range<Integer>, String, nil] what the environment allows `puma_tuner auto`; a String where that is no
      #   range
      def tune_wanted
        text = ENV["PUMA_TUNER_TUNE"] or return
        text[/\A(\d+)\.\.(\d+)\z/] ? $1.to_i..$2.to_i : text
      end

      # Adds a task for each process that serves, to be done once it is recorded.
      #
      # @yieldparam server [::Puma::Server, nil] nil when it had started before
      # @return [void]
      def at_start(&task)
        @tasks = [*@tasks, task]
      end

      # The same in a server that serves already. Requests that are under way are left out.
      #
      # @return [String, nil] why less than everything can be seen
      def start_late(directory:)
        start(way_in: "command", directory:)
        server_starts
        Puma.why_unwatched || recording.why_not
      end

      # @param server [::Puma::Server, nil] that this process runs
      # @return [Recording] of this process, begun when there is none
      def recording(server = nil)
        return @recording if @recording&.pid == Process.pid
        @snapshot = @faults_count = nil
        @recording = Recording.new(way_in: @ways&.fetch(:way_in) || "jobs",
          directory: @ways&.fetch(:directory) || ENV["PUMA_TUNER_DIRECTORY"], grouping:,
          locks: @ways&.fetch(:locks), server:)
        @recorder = @recording.recorder
        @recording
      end

      # The same for work that begins in many threads at once. A lock of its own, as a late start may come out of a
      # signal's handler, which may not wait for one.
      #
      # @return [void]
      def begin_recording
        return if @begun_pid == Process.pid || in_other_ractor?
        FIRST.synchronize do
          next if @begun_pid == Process.pid
          begin
            say_what_is_missing(recording)
          rescue StandardError, ScriptError => error
            say_unwatched("#{error.class}: #{error.message}")
          ensure
            @begun_pid = Process.pid # once, and not before there is a recorder for the jobs that begin meanwhile
          end
        end
      rescue ThreadError
        nil # in a signal's handler, which may not wait for a lock
      end

      # @return [Snapshot] of this process's server
      def snapshot = @snapshot ||= Snapshot.new(recording)

      # A promise of our own code was broken. The first time of each kind one line says so; when it comes again and
      # again, this process is not watched any more.
      #
      # @param what [String] a sentence's beginning
      # @param error [Exception]
      # @return [nil]
      def fault(what, error)
        @faults_count = @faults_count.to_i + 1
        @told_faults ||= {}
        say("#{what} (#{error.class}: #{error.message}); please report this") unless @told_faults[what]
        @told_faults[what] = true
        return if @faults_count < FAULTS_MAX || @recorder.equal?(Unwatched)
        @recorder = Unwatched
        say("after #{FAULTS_MAX} such faults this process is no longer watched")
      end

      # One line to the server's log, if that can be written to.
      # @param text [String]
      # @return [nil]
      def say(text)
        warn "puma_tuner: #{text}"
      rescue SystemCallError, IOError
        nil
      end

      private

      # JRuby and TruffleRuby have no Ractors.
      def in_other_ractor? = defined?(::Ractor) && Ractor.current != Ractor.main

      def allow_resizing
        Puma.count_errors
        at_start { |server| Resize.new(server, recording:, allowed: @ways[:resize]).start }
      end

      # Runs once per process: Puma restarts its server within one, too.
      def server_starts(server = nil)
        return if @served_pid == Process.pid
        @served_pid = Process.pid
        why_unwatched = Puma.why_unwatched
        return say_unwatched(why_unwatched) if why_unwatched
        say_what_is_missing(recording(server))
        GvlClock.looks_only = Puma.looks_only?(server)
        install_jobs
        start_console if @ways[:console] && recording.full?
        @tasks&.each { |task| task.call(server) } if recording.any?
      rescue StandardError, ScriptError => error
        say_unwatched("#{error.class}: #{error.message}")
      end

      # In a worker before its boot hooks, too: Sidekiq asks what is to be around its jobs when it is configured, which
      # such a hook may do for one that runs inside of Puma.
      def install_jobs
        Jobs.install
      rescue StandardError, ScriptError => error
        fault("jobs can't be recorded", error)
      end

      # A file that can't be loaded is told of where a server starts.
      def load_early
        EARLY.each { |name| const_get(name) }
        PumaTuner.const_get(:Jobs)
      rescue StandardError, ScriptError
        nil
      end

      def say_unwatched(why_not)
        @recorder = Unwatched
        say("this process can't be watched (#{why_not})")
      end

      def start_console
        Console.new(ledger_path: recording.ledger_path, worker_index: recording.worker_index, **@ways[:console]).start
      end

      # Once in each process, whether its first work is a job or a server.
      def say_what_is_missing(recording)
        return if recording.why_not.nil? || @told_pid == Process.pid
        @told_pid = Process.pid
        say(recording.any? ? "GVL wait, IO and locks can't be told apart here: #{recording.why_not}" :
          recording.why_not)
      end
    end
  end
end
