# frozen_string_literal: true

require "tmpdir"
require_relative "comparison"
require_relative "service"
require_relative "session"

module Validation
  # How a subject is started.
  class Servers
    RUBIES = {"3.3" => "3.3.8", "3.4" => "3.4.5"}.freeze
    APP = File.expand_path("apps/config.ru", __dir__)
    GEMFILES = File.expand_path("../../gemfiles", __dir__)
    LIBRARY = File.expand_path("../../probe/lib/puma_tuner/probe/native", __dir__)

    # @param turns_per_ms [Integer] of the app's loop: how much work the workloads are
    # @param folder [String] for files of the app's
    def initialize(turns_per_ms:, folder:)
      @turns_per_ms = turns_per_ms
      @folder = folder
    end

    # @param subject [Subject]
    # @param service [Service, nil] that a limited workload asks
    # @return [PumaTuner::Host::Command]
    # @raise [PumaTuner::UsageError] when it can't be had here
    def command(subject, service: nil)
      ensure_extension(subject.ruby)
      command = subject.workload.real? ? real(subject.workload) : made(subject)
      more = {"RUBY_THREAD_TIMESLICE" => subject.timeslice_ms.to_s, "RACK_ENV" => "production", **(service ? service.environment : {})}
      command.with(environment: command.environment.merge(more))
    end

    private

    # Without it a recording holds no traces, and nothing can be predicted.
    def ensure_extension(ruby)
      return if Dir[File.join(LIBRARY, ruby, "puma_tuner_probe.*")].any?
      raise PumaTuner::UsageError, "the probe is not compiled for Ruby #{ruby}; run `rake compile` with that Ruby (bin/setup --ruby #{RUBIES.fetch(ruby)} provides it)"
    end

    def real(workload)
      cache = ENV.fetch("PUMA_TUNER_CACHE") { File.join(Dir.home, ".cache/puma_tuner") }
      directory = File.join(cache, "apps", workload.name)
      unless File.file?(File.join(directory, "config.ru"))
        raise PumaTuner::UsageError, "#{workload.name} is not installed; run labs/real_apps/#{workload.name}/setup"
      end
      PumaTuner::Host::Command.of_words(workload.command, directory:)
    end

    # With gems of its own, as `puma_tuner prove` gives them to a variant.
    def made(subject)
      gemfile = File.join(GEMFILES, "#{subject.workload.gemfile || "puma_#{subject.puma.tr(".", "_")}"}.gemfile")
      base = PumaTuner::Host::Command.of_rackup(APP)
      ruby = ruby(subject.ruby)
      # First on PATH, too: a Bundler that starts itself anew in another version takes the first Ruby that it finds there.
      environment = base.environment.merge("PATH" => "#{File.dirname(ruby)}:#{base.environment["PATH"]}")
      bundle = PumaTuner::Prove::Bundle.new(gemfile:, gems: {}, ruby:, environment:, say: method(:warn)).install
      environment, words = bundle.around(environment, base.words)
      base.with(words:, environment: {**environment, **steps(subject.workload)})
    end

    def steps(workload)
      {"VALIDATION_STEPS" => workload.steps, "VALIDATION_BACKGROUND" => workload.background, "VALIDATION_TURNS_PER_MS" => @turns_per_ms.to_s,
       "VALIDATION_FOLDER" => @folder}.compact
    end

    def ruby(series)
      RUBY_VERSION.start_with?("#{series}.") ? Gem.ruby : PumaTuner::Prove::Installed.ruby(RUBIES.fetch(series))
    end
  end

  # The figures of this machine with a recording's Ruby and Puma: as `puma_tuner calibrate` has kept them, or measured now and
  # kept where it keeps them.
  class Calibration
    LIBRARY = File.expand_path("../../lib", __dir__)
    LIMIT_S = 180

    # It calibrates the Ruby and the Puma that it runs with, so it runs in the bundle of the server.
    CHILD = 'require "puma_tuner"; PumaTuner::Calibrate::Store.new.write(PumaTuner::Calibrate.call)'

    # @param servers [Servers]
    # @param say [#call] told when it takes time
    def initialize(servers:, say:)
      @servers = servers
      @say = say
      @store = PumaTuner::Calibrate::Store.new
    end

    # @param observation [PumaTuner::Probe::Observation]
    # @return [PumaTuner::Model::Machine]
    # @raise [PumaTuner::UsageError] when it can't be calibrated
    def machine(observation)
      versions = [observation.server.ruby_version, observation.server.puma_version]
      key = PumaTuner::Calibrate.key_of(observation.machine, *versions)
      @store.read(key) || begin
        @say.call("calibrating for Ruby #{versions.first}, Puma #{versions.last}")
        said = measure(*versions)
        @store.read(key) or raise PumaTuner::UsageError, "no calibration came of it: #{said.lines.first&.strip}"
      end
    end

    private

    # @return [String] what it said
    def measure(ruby_version, puma_version)
      ruby, puma = [ruby_version, puma_version].map { |version| version[/\A\d+\.\d+/] }
      command = @servers.command(Subject.new(workload_name: "empty", ruby:, puma:, timeslice_ms: 100))
      *bundle, _puma, _rackup = command.words
      # Nothing of the bundle that we run in.
      environment = ENV.to_h.transform_values { nil }.merge(command.environment)
      output, = PumaTuner::Host::Child.output_of([environment, *bundle, command.words.first, "-I", LIBRARY, "-e", CHILD], limit_s: LIMIT_S)
      output.to_s
    end
  end

  # The one look at a subject that its predictions may use: a window of `puma_tuner measure`, with the probe; or the windows of `puma_tuner tune`, at
  # several settings.
  class Recorder
    # @param servers [Servers]
    # @param form [Symbol] of Grid::FORMS
    # @param fastest [Float] speed of the machine that nobody disturbs, see Speed
    def initialize(servers:, form:, fastest:)
      @fastest = fastest
      @servers = servers
      @form = form
    end

    # A recording that others disturbed would spoil all that is predicted from it: it is made again, so many times.
    ATTEMPTS_COUNT = 3

    # foreign_cpu_ratio: of the machine, what others used meanwhile; turns_per_ms: its speed, fastest: the most that was seen
    Recording = Data.define(:observation, :foreign_cpu_ratio, :turns_per_ms, :fastest) do
      # @return [String, nil] why it must not count, as a clause
      def disturbed
        if foreign_cpu_ratio > PumaTuner::Prove::Disturbance::FOREIGN_CPU_RATIO
          "others used #{PumaTuner::Units.percent(foreign_cpu_ratio)} of the machine while it was recorded"
        else
          Speed.difference(turns_per_ms, fastest, "at its best while it was recorded")
        end
      end
    end

    # @return [Boolean] whether this version of `tune` records more than today's settings
    def self.companions? = PumaTuner::Measure.const_defined?(:Recordings)

    # @param subject [Subject]
    # @param recorded_at [RecordedAt]
    # @return [Recording] an undisturbed one, or the fastest
    def call(subject, recorded_at)
      recordings = []
      ATTEMPTS_COUNT.times do
        recordings << watched { observation(subject, recorded_at) }
        break unless recordings.last.disturbed
      end
      recordings.reject(&:disturbed).first || recordings.max_by(&:turns_per_ms)
    end

    private

    # Server and generator are children that have ended by then, so their CPU time is known.
    def watched
      disturbance, (observation, turns_per_ms) = PumaTuner::Calibrate::Disturbance.during { Speed.during { yield } }
      Recording.new(observation:, foreign_cpu_ratio: disturbance.foreign_ratio || 0.0, turns_per_ms:, fastest: @fastest)
    end

    def observation(subject, recorded_at)
      Service.run(subject.workload.limit_count) do |service|
        observed(subject, recorded_at, service).tap { |observation| ensure_asked(service, observation, recorded_at) if service }
      end
    end

    # The service has had all of the window's requests, and those before that warmed the server up.
    def ensure_asked(service, observation, recorded_at)
      most_count = recorded_at.companions ? service.places_count : [service.places_count, recorded_at.topology.slots_count].min
      complaint = service.complaint(observation.requests_count.., 1..most_count)
      raise PumaTuner::InvalidMeasurement, complaint if complaint
    end

    def observed(subject, recorded_at, service)
      given = {command: @servers.command(subject, service:), traffic: traffic(subject.workload, recorded_at.topology),
               boot_limit_s: Session::BOOT_LIMIT_S}
      times = Times.of(@form, subject.workload)
      seconds = {warmup_s: times.warmup_s, duration_s: times.record_s_of(subject.workload)}
      return with_companions(recorded_at.topology, seconds, **given) if recorded_at.companions
      PumaTuner::Measure::LoadedWindow.new(topology: recorded_at.topology, **given, **(self.class.companions? ? {times: window_times(seconds)} : seconds)).call
    end

    def with_companions(today, seconds, **given)
      plan = PumaTuner::Measure::Recordings::Plan.new(today:, settings: nil, workers: Grid::WORKERS, times: window_times(seconds), limit_s: nil, **given)
      PumaTuner::Measure::Recordings.new(plan).call
    end

    # The warm-up is as long as that of the cells, so it is not waited for much longer.
    WARMUP_LIMIT_FACTOR = 2
    private_constant :WARMUP_LIMIT_FACTOR

    def window_times(seconds) = PumaTuner::Measure::LoadedWindow::Times.new(**seconds, warmup_limit_s: WARMUP_LIMIT_FACTOR * seconds.fetch(:warmup_s))

    def traffic(workload, topology)
      PumaTuner::Load::Traffic.new(mix: workload.mix, generator: PumaTuner::Load::Native.new,
        connections_count: Grid.recorded_connections_count(workload, topology), seed: 7)
    end
  end

  # All servers of a subject at once: those that record, with the probe, and those of its cells, without. They are loaded in turns, round after
  # round, in an order by chance. What changes on the machine meanwhile meets recordings and cells alike then (neighbours make this one a third
  # slower for minutes), and what is left between them is the settings'. Those that rest take memory, and next to no CPU.
  class SideBySide
    # Servers that boot, and that are warmed up, at the same time.
    STARTED_AT_ONCE_COUNT = 3
    WARMED_AT_ONCE_COUNT = 4

    # After that, each alone for so long: what is compiled now was compiled beside others.
    ALONE_S = 1.0

    # A server that stays until it is told to leave.
    class Guest
      # @yield [block] starts the server, and stops it when the block that it calls with it ends
      def initialize(&with_server)
        @with_server = with_server
        @leave = Queue.new
      end

      # @return [PumaTuner::Host::ServerProcess]
      def start
        arrived = Queue.new
        @thread = Thread.new do
          @with_server.call(->(server) { arrived << server and @leave.pop })
        rescue => error
          arrived << error
        end
        arrived.pop.tap { |server| raise server if server.is_a?(Exception) }
      end

      def stop
        @leave << true
        @thread&.join
      end
    end

    # One that records, over all of its turns.
    class Recording
      attr_reader :topology, :guest

      # @param traffic [PumaTuner::Load::Traffic]
      def initialize(command, topology, traffic, load_s)
        @command = command
        @topology = topology
        @traffic = traffic
        @load_s = load_s
        @outcomes = []
        @guest = Guest.new { |block| PumaTuner::Host::ServerProcess.run(command, topology:, measure: true, locks: true, boot_limit_s: Session::BOOT_LIMIT_S) { |server| block.call(server) } }
      end

      def attend(server) = @server = server

      def warm_up(seconds) = @traffic.send_to(@server.url, duration_s: seconds)

      def begin
        @collector = PumaTuner::Measure::Collector.new(@server, command: @command.to_s)
        @collector.begin_window
      end

      def turn(number) = @outcomes << @traffic.with(seed: number + 1).send_to(@server.url, duration_s: @load_s).ensure_expected_responses

      # @return [PumaTuner::Probe::Observation]
      def finish = @collector.end_window(load: PumaTuner::Probe::LoadSummary.of(@outcomes.reduce(:+), @traffic.arrivals))
    end

    # A cell's.
    class Measured
      attr_reader :guest

      # @param session [Session]
      def initialize(session)
        @session = session
        @guest = Guest.new { |block| session.with_server { |server| block.call(server) } }
      end

      def attend(server) = @session.attend(server)

      def warm_up(seconds) = @session.warm_up(seconds)

      def begin = nil

      def turn(number) = @session.turn(number)

      # @return [Hash{Cell => Hash}] what goes into the journal
      def finish = @session.finish
    end

    # @param recordings [Array<Recording>]
    # @param sessions [Array<Session>]
    # @param times [Times]
    # @param seed [Integer] of the order
    def initialize(recordings:, sessions:, times:, seed:)
      @recordings = recordings
      @sessions = sessions.map { |session| Measured.new(session) }
      @times = times
      @random = Random.new(seed)
    end

    # @return [Array(Hash{PumaTuner::Topology => PumaTuner::Probe::Observation}, Hash{Cell => Hash}, Float)] recordings, cells, and the machine's speed
    #   meanwhile, see Speed
    # @raise [PumaTuner::UsageError] when a server can't be started, or answers wrongly
    def call
      all = [*@recordings, *@sessions]
      at_once(all, STARTED_AT_ONCE_COUNT) { |one| one.attend(one.guest.start) }
      at_once(all, WARMED_AT_ONCE_COUNT) { |one| one.warm_up(@times.warmup_s) }
      all.each { |one| one.warm_up(ALONE_S) }
      _, turns_per_ms = Speed.during do
        all.each(&:begin)
        @times.repeats_count.times { |number| all.shuffle(random: @random).each { |one| one.turn(number) } }
      end
      [@recordings.to_h { |recording| [recording.topology, recording.finish] }, @sessions.map(&:finish).reduce({}, :merge), turns_per_ms]
    ensure
      all&.each { |one| one.guest.stop }
    end

    private

    def at_once(all, count)
      all.each_slice(count) do |some|
        some.map { |one| Thread.new { yield one }.tap { |thread| thread.report_on_exception = false } }.each(&:join)
      end
    end
  end

  # Measures what is still to be measured, into the journal.
  class Measurement
    # @param journal [Journal] with its run
    # @param schedule [Schedule]
    # @param form [Symbol] of Grid::FORMS
    # @param say [#call] told what comes next
    def initialize(journal:, schedule:, form:, say:)
      @journal = journal
      @schedule = schedule
      @form = form
      @say = say
      @cores_count = PumaTuner::Probe::MachineFacts.read.cores_count
    end

    def call
      Dir.mktmpdir("validation") do |folder|
        @servers = Servers.new(turns_per_ms: @journal.run.fetch("turns_per_ms"), folder:)
        @schedule.subjects.each { |subject| measure(subject) }
      end
    end

    private

    def measure(subject)
      servers = @schedule.servers(subject)
      return if servers.empty? && @schedule.unrecorded(subject).empty?
      return side_by_side(subject, servers) unless subject.workload.made? || servers.flat_map(&:cells).any? { |cell| cell.level.wrk? }
      @schedule.unrecorded(subject).each { |at| record(subject, at) }
      servers.each { |server| load(server) }
    rescue PumaTuner::UsageError, PumaTuner::MeasurementFailed => error
      reason = Reason.of(error)
      @say.call("#{subject.key} is left out: #{reason}")
      @journal.add("kind" => "absent", "key" => subject.key, "reason" => reason)
    end

    # Each start of its servers by itself; the first has the recordings.
    def side_by_side(subject, servers)
      at_settings = @schedule.unrecorded(subject)
      [0, *servers.map(&:start)].uniq.each do |start|
        of_start = servers.select { |server| server.start == start }
        recordings = (start == 0) ? recordings(subject, at_settings) : []
        next if of_start.empty? && recordings.empty?
        @say.call("#{subject.key} side by side: recorded at #{recordings.map(&:topology).join(" ")}, measured at #{of_start.map(&:topology).join(" ")}")
        times = Times.of(@form, subject.workload)
        observations, cells, turns_per_ms = SideBySide.new(recordings:, sessions: of_start.map { |server| session(server, times) }, times:, seed: start).call
        at_settings.each { |at| keep(subject, at, observations, turns_per_ms) } if observations.any?
        cells.each_value { |fields| @journal.add(fields) }
      end
    end

    # @return [Array<SideBySide::Recording>] each setting once, whatever it is recorded for
    def recordings(subject, at_settings)
      topologies = at_settings.flat_map { |at| [at.topology, *companions_of(at)] }.uniq
      topologies.map do |topology|
        traffic = PumaTuner::Load::Traffic.new(mix: subject.workload.mix, generator: PumaTuner::Load::Native.new,
          connections_count: Grid.recorded_connections_count(subject.workload, topology), seed: 0)
        SideBySide::Recording.new(@servers.command(subject), topology, traffic, load_s(subject.workload))
      end
    end

    def companions_of(at) = at.companions ? PumaTuner::Measure::Companions.of(at.topology, Grid::WORKERS) : []

    def session(server, times)
      plans = server.cells.map { |cell| Session::Plan.new(cell:, rate_per_s: nil, connections_count: cell.level.connections_count(cell.topology), load_s: load_s(cell.subject.workload)) }
      Session.new(command: @servers.command(server.subject), topology: server.topology, plans:, times:, start: server.start, cores_count: @cores_count)
    end

    def load_s(workload) = Times.of(@form, workload).load_s_at(1_000.0 / workload.nominal_ms)

    # Whatever disturbed it disturbed the cells as much.
    def keep(subject, at, observations, turns_per_ms)
      observation = observations.fetch(at.topology).with(companions: observations.values_at(*companions_of(at)).freeze)
      calibrate(observation)
      name = Schedule.recording_name(subject, at)
      @journal.add("kind" => "recording", "key" => name, "foreign_cpu_ratio" => nil, "turns_per_ms" => turns_per_ms, "disturbed" => nil)
      @journal.keep(name, observation)
    end

    def record(subject, at)
      @say.call("recording #{subject.key} at #{at}")
      recording = Recorder.new(servers: @servers, form: @form, fastest: @journal.run.fetch("turns_per_ms")).call(subject, at)
      calibrate(recording.observation)
      name = Schedule.recording_name(subject, at)
      @journal.add("kind" => "recording", "key" => name, "foreign_cpu_ratio" => recording.foreign_cpu_ratio, "turns_per_ms" => recording.turns_per_ms,
        "disturbed" => recording.disturbed)
      @journal.keep(name, recording.observation)
    end

    # Kept with the measurements, so that predictions made anew are of the same machine.
    def calibrate(observation)
      name = Predictor.machine_name(observation)
      return if @journal.document(name)
      @journal.keep(name, Calibration.new(servers: @servers, say: @say).machine(observation))
    end

    def load(server)
      subject = server.subject
      @say.call("#{subject.key} #{server.topology}: #{server.cells.map(&:level).join(" ")}")
      at = @schedule.recorded_at(subject).first
      predictor = Predictor.of(@journal, subject, at)
      plans = server.cells.map { |cell| plan(cell, predictor) }
      Service.run(subject.workload.limit_count) do |service|
        session = Session.new(command: @servers.command(subject, service:), topology: server.topology, plans:,
          times: Times.of(@form, subject.workload), start: server.start, cores_count: @cores_count, service:,
          turns_per_ms: @journal.recorded_turns_per_ms(Schedule.recording_name(subject, at)))
        session.call.each_value { |fields| @journal.add(fields) }
      end
    end

    def plan(cell, predictor)
      capacity_per_s = predictor.capacity_per_s(cell.topology)
      rate_per_s = cell.level.factor * capacity_per_s if cell.level.open?
      Session::Plan.new(cell:, rate_per_s:, connections_count: rate_per_s ? Session::OPEN_CONNECTIONS_COUNT : cell.level.connections_count(cell.topology),
        load_s: Times.of(@form, cell.subject.workload).load_s_at(rate_per_s || capacity_per_s))
    end
  end
end
