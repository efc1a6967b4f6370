# frozen_string_literal: true

require "tmpdir"
require_relative "judge"
require_relative "shapes"

module AdviceCheck
  # What was measured, on disk, a line as soon as it is there: an interrupted run goes on from it.
  #
  #   {"kind": "run", …}  what holds for all: the layout of these lines, commit, machine, how much work a millisecond is
  #   {"kind": "capacity", "key": "cpu/2x3", …}  per_s: that the setting bears
  #   {"kind": "advice", "key": "cpu/one thread", …}  today, advised, title, rules, rate_per_s, predicted: p99 in nanoseconds by setting; commit that advised;
  #     measured_first: ratios of p99 to today's by setting, where the advice was to measure; the last one counts
  #   {"kind": "trial", "key": "cpu/2x3", "start": round, …}  see Trials
  #   {"kind": "starved", "key": "1x5", …}  today, advised, rules
  # Recordings are files of their own beside it.
  class Journal < Validation::Journal
    FOLDER = File.expand_path("../../tmp/advice", __dir__)

    # @return [Hash, nil] a line
    def at(kind, key, number = nil) = @lines[[kind, key, number]]

    # @return [String, nil] where a document is, as commands take it
    def path(name) = path_of(name).then { |path| path if File.file?(path) }
  end

  # What `puma_tuner advise` would say, asked of the library in the way of its command, for each recording as if it were the first
  # ever made here.
  module Asked
    # @param path [String] of a recording
    # @param grid [Array<PumaTuner::Topology>]
    # @param rate_per_s [Float, nil] that the advice is for, nil: as it was recorded
    # @return [Array(PumaTuner::Predict::Sweep, PumaTuner::Advise::AdviceList)]
    def self.of(path, grid, rate_per_s: nil)
      without_past do
        words = {observation: path, companions: [], what_if: [], station: [], slo: [], at: rate_per_s, seed: 1,
                 seeds: PumaTuner::Predict::Sweeper::DEFAULT_SEEDS_COUNT, simulated_requests: PumaTuner::Predict::Sweeper::DEFAULT_REQUESTS_COUNT}
        wanted = PumaTuner::CLI::Options::Goals.from(words)
        forecast = PumaTuner::CLI::Options::Forecast.from(words)
        app = forecast.app(method(:warn))
        sweeper = forecast.sweeper(app)
        scenarios = PumaTuner::CLI::Scenarios.new(app.workload).of(grid | [app.workload.observed_topology], [wanted.arrivals(app.workload.arrivals)])
        PumaTuner::Advise.call(app.workload, sweeper, scenarios, wanted.constraints.inside(app.facts), observation: app.observation) { |some| sweeper.call(some) }
      end
    end

    # How forecasts did is kept in the user's own state; there is none in an empty folder.
    def self.without_past
      before = ENV["XDG_STATE_HOME"]
      Dir.mktmpdir("advice") do |folder|
        ENV["XDG_STATE_HOME"] = folder
        yield
      end
    ensure
      ENV["XDG_STATE_HOME"] = before
    end
    private_class_method :without_past
  end

  # All settings of a shape, each with a server of its own that stays: those that are not asked rest.
  class Servers
    STARTED_AT_ONCE_COUNT = 3

    # A server whose requests nobody waits for any more is waited for, as it takes a core from the next one.
    IDLE_RATIO = 0.05
    LOOK_S = 0.05
    SETTLING_LIMIT_S = 10

    # So many requests may be under way, as `advise --at` supposes.
    CONNECTIONS_COUNT = PumaTuner::Model::Arrivals::OPEN_CONNECTIONS_COUNT

    # It has no core of its own where server and generator fill the machine, and is late for that, with every setting. Later than this share of p99, that is of
    # the generator.
    LAG_RATIO = 0.25

    # What has no response by then never has.
    DRAIN_S = 2.0

    # @param shape [Shape]
    # @param command [PumaTuner::Host::Command]
    def initialize(shape, command)
      @shape = shape
      @command = command
      @cores_count = PumaTuner::Probe::MachineFacts.read.cores_count
    end

    # @param topologies [Hash{String => PumaTuner::Topology}] by name
    # @yield while they serve
    def run(topologies)
      @guests = topologies.transform_values do |topology|
        Validation::SideBySide::Guest.new { |block| PumaTuner::Host::ServerProcess.run(@command, topology:, meter: true) { |server| block.call(server) } }
      end
      @servers = @guests.each_slice(STARTED_AT_ONCE_COUNT).flat_map { |some|
        some.map { |name, guest| Thread.new { [name, guest.start] }.tap { |thread| thread.report_on_exception = false } }.map(&:value)
      }.to_h
      yield
    ensure
      @guests&.each_value(&:stop)
    end

    # @return [Float] requests per second of clients that leave no thread without work; the first such load warms the server up
    def capacity_per_s(name, seconds)
      connections_count = 3 * @servers.fetch(name).topology.slots_count / 2 + 4
      traffic = PumaTuner::Load::Traffic.new(mix: @shape.workload.mix, generator: PumaTuner::Load::Native.new, connections_count:, seed: 1)
      Array.new(2) { traffic.send_to(@servers.fetch(name).url, duration_s: seconds).ensure_expected_responses.throughput_per_s }.last
    end

    # One setting in one round.
    # @param rate_per_s [Float]
    # @param seed [Integer] the same one sends the same requests at the same instants
    # @return [Hash] p99_ns, of an overloaded one how long was waited at most; p50_ns; lag_p99_ns; counted_count; disturbed: what others did, or the
    #   generator, a clause or nil; overloaded: whether some had no response
    def trial(name, rate_per_s, seed, seconds)
      server = @servers.fetch(name)
      before, own_ns = PumaTuner::Host::Readings.take(server, nil), PumaTuner::Clock.cpu_ns
      outcome = traffic(rate_per_s, seed).send_to(server.url, duration_s: seconds)
      own_ns = PumaTuner::Clock.cpu_ns - own_ns
      spent = PumaTuner::Host::Readings.take(server, nil) - before
      settle(server)
      return overloaded(outcome, seconds) if outcome.unanswered_count.to_i.positive?
      conditions = PumaTuner::Prove::Conditions.of(spent:, gauges: [], outcome:, own_cpu_ns: own_ns, cores_count: @cores_count, fingerprint: {})
      {"p99_ns" => outcome.p99_ns, **beside(outcome), "overloaded" => false, "disturbed" => disturbed(outcome.ensure_expected_responses, conditions)}
    end

    private

    def traffic(rate_per_s, seed)
      PumaTuner::Load::Traffic.new(mix: @shape.workload.mix, generator: PumaTuner::Load::Native.new(drain_s: DRAIN_S), connections_count: CONNECTIONS_COUNT, seed:,
        arrivals: PumaTuner::Load::Arrivals.open(rate_per_s))
    end

    def overloaded(outcome, seconds)
      limit_ns = ((seconds + DRAIN_S) * PumaTuner::Units::NS_PER_S).round
      {"p99_ns" => limit_ns, **beside(outcome), "overloaded" => true, "disturbed" => nil}
    end

    def beside(outcome) = {"p50_ns" => outcome.p50_ns, "lag_p99_ns" => outcome.lag_p99_ns, "counted_count" => outcome.counted_count}

    # By causes only: what came out decides nothing.
    def disturbed(outcome, conditions)
      lag_ns = outcome.lag_p99_ns.to_i
      return "the generator was #{PumaTuner::Units.duration(lag_ns)} late" if lag_ns > LAG_RATIO * outcome.p99_ns
      PumaTuner::Prove::Disturbance.of_unpaired(conditions)
    end

    def settle(server)
      deadline_s = PumaTuner::Clock.now_s + SETTLING_LIMIT_S
      loop do
        cpu_ns = PumaTuner::Host::Readings.take(server, nil).cpu_ns
        sleep(LOOK_S)
        now_ns = PumaTuner::Host::Readings.take(server, nil).cpu_ns
        return if cpu_ns.nil? || now_ns.nil? || now_ns - cpu_ns < IDLE_RATIO * LOOK_S * PumaTuner::Units::NS_PER_S
        return if PumaTuner::Clock.now_s > deadline_s
      end
    end
  end

  # What a shape's lines in the journal say.
  class Measured
    # The A/A pair's second one, at the good setting.
    AGAIN = "the same again"

    # A setting that bears so much more than the asked rate has a steady state.
    BEARS_FACTOR = 1.05

    # @param journal [Journal]
    # @param shape [Shape]
    # @param form [Form]
    def initialize(journal, shape, form)
      @journal = journal
      @shape = shape
      @form = form
    end

    # @return [Shape]
    attr_reader :shape

    # @return [Hash{String => PumaTuner::Topology}] servers by name
    def servers = {**(@form.grid | starts.values).to_h { |topology| [topology.to_s, topology] }, AGAIN => @shape.good}

    def starts = @form.starts(@shape)

    # @return [Float, nil] nil where it was not looked at yet
    def capacity_per_s(name) = @journal.at("capacity", "#{@shape.name}/#{name}")&.fetch("per_s")

    # @return [Float, nil] that settings are advised and measured for; nil until all capacities are known
    def rate_per_s
      capacities = servers.keys.map { |name| capacity_per_s(name) }
      (LOAD_RATIO * capacities.max).round(1) unless capacities.include?(nil)
    end

    # @return [Boolean] whether it bears that rate
    def bears?(name) = capacity_per_s(name) >= BEARS_FACTOR * rate_per_s

    # @return [Hash, nil] see Journal
    def advice(start_name) = @journal.at("advice", "#{@shape.name}/#{start_name}")

    # @return [Hash, nil] see Journal
    def trial(name, round) = @journal.at("trial", "#{@shape.name}/#{name}", round)

    # Two servers of one setting differ for as long as they live, by up to a tenth: so rounds are spread over several of
    # each. After each such leg, who was shown to be behind by then is left out.
    LEG_ROUNDS_COUNT = 10

    # @return [Array<String>] that are to be measured in a round
    def running(round)
      early_count, later_count = @form.cut_after_counts
      return bearing if round < early_count
      (round < later_count) ? survivors : finalists((round - later_count) / LEG_ROUNDS_COUNT)
    end

    # @return [Integer] rounds after which it is decided who goes on
    def qualifying_count = @form.cut_after_counts.last

    # @return [Integer] that there are to be, by who is left after the rounds so far
    def planned_count
      left_count = @form.trials_count - (0...qualifying_count).sum { |round| running(round).size }
      count = qualifying_count
      rounds_count = self.rounds_count
      while rounds_count >= count + LEG_ROUNDS_COUNT && left_count >= running(count).size * LEG_ROUNDS_COUNT
        left_count -= running(count).size * LEG_ROUNDS_COUNT
        count += LEG_ROUNDS_COUNT
      end
      (count + [left_count, 0].max / running([count, rounds_count].min).size).clamp(@form.rounds)
    end

    # @return [Range] of the rounds that the same servers serve; empty where all are done
    def leg(number)
      from = qualifying_count + number * LEG_ROUNDS_COUNT
      from...[from + LEG_ROUNDS_COUNT, planned_count].min
    end

    # @return [Integer] rounds that are there, whole
    def rounds_count = @form.rounds.max.times.take_while { |round| running(round).all? { |name| trial(name, round) } }.size

    # @return [Rounds] of trials that count
    def rounds
      contenders = running([rounds_count - 1, 0].max) - [AGAIN]
      Rounds.new((0...rounds_count).map { |round| counting(running(round), round) }, contenders:)
    end

    # @return [Boolean]
    def advised? = !rate_per_s.nil? && starts.keys.all? { |name| advice(name) }

    # @return [Boolean]
    def whole? = advised? && rounds_count >= qualifying_count && rounds_count >= planned_count

    # @return [Integer] trials that did not count
    def disturbed_count = (0...rounds_count).sum { |round| running(round).count { |name| trial(name, round)["disturbed"] } }

    # @return [PumaTuner::Stats::Estimate, nil]
    def again = rounds.ratio(AGAIN, @shape.good.to_s)

    # @return [Array<Case>]
    def cases
      rounds, again = self.rounds, self.again
      starts.map do |start_name, start|
        advice = advice(start_name)
        advised = advice.fetch("advised")
        Case.new(shape: @shape.name, start_name:, start: start.to_s, advised:, kind: advice.fetch("title"), rules: advice.fetch("rules"), rate_per_s:,
          start_bears: bears?(start.to_s), advised_bears: bears?(advised), unrivalled: rounds.contenders == [advised], over_best: rounds.over_best(advised), over_start: rounds.ratio(advised, start.to_s), again:)
      end
    end

    private

    def bearing = servers.keys.select { |name| bears?(name) }

    # Those that are compared go on however they do.
    def kept = [AGAIN, *starts.values.map(&:to_s), *starts.keys.map { |name| advice(name).fetch("advised") }]

    def survivors = bearing & Race.survivors(raw(0...@form.cut_after_counts.first), kept:)

    # Decided once for each leg, by all rounds before it.
    def finalists(leg)
      (@finalists ||= {})[leg] ||= begin
        before = leg.zero? ? survivors : finalists(leg - 1)
        rounds = (0...qualifying_count + leg * LEG_ROUNDS_COUNT).map { |round| counting(running(round), round) }
        Race.near_best(Rounds.new(rounds, contenders: before), kept:)
      end
    end

    # @return [Hash{String => Integer}] p99 of those whose trial counts
    def counting(names, round)
      names.filter_map { |name| trial(name, round).then { |fields| [name, fields["p99_ns"]] unless fields["disturbed"] } }.to_h
    end

    def raw(numbers) = numbers.map { |round| servers.keys.filter_map { |name| trial(name, round)&.then { |fields| [name, fields["p99_ns"]] } }.to_h }
  end

  # Measures what is still to be measured, into the journal.
  class Measurement
    # @param journal [Journal] with its run
    # @param shapes [Array<Shape>]
    # @param form [Form]
    # @param say [#call] told what comes next
    def initialize(journal:, shapes:, form:, say:)
      @journal = journal
      @shapes = shapes
      @form = form
      @say = say
    end

    # @return [Float] seconds that are left, about
    def expected_s
      shapes_s = @shapes.sum do |shape|
        measured = Measured.new(@journal, shape, @form)
        next 0 if measured.whole?
        (measured.advised? ? 0 : @form.recordings_s(shape)) + @form.rounds_s
      end
      shapes_s + (starved? ? 0 : @form.starved_s)
    end

    def call
      with_commands do
        calibrate
        @shapes.each { |shape| measure(shape) }
        Shapes::STARVED_AT.each { |start| starve(start) }
      end
    end

    # Asks for advice once more, from the recordings that are there. What is advised and was not measured to the end is measured then.
    def advise_again
      with_commands do
        @shapes.each do |shape|
          measured = Measured.new(@journal, shape, @form)
          measured.starts.each { |start_name, start| advise_from(measured, start_name, start) } if measured.rate_per_s
        end
      end
    end

    private

    def with_commands
      Dir.mktmpdir("advice") do |folder|
        @commands = Validation::Servers.new(turns_per_ms: @journal.run.fetch("turns_per_ms"), folder:)
        yield
      end
    end

    def starved? = Shapes::STARVED_AT.all? { |start| @journal.at("starved", start.to_s) }

    # `advise` looks for it, and so it is there, of today.
    def calibrate
      path = record(@shapes.first, @shapes.first.good)
      Validation::Calibration.new(servers: @commands, say: ->(text) { @say.call("#{text}, about #{PumaTuner::Calibrate::EXPECTED_S} s") })
        .machine(PumaTuner::Document.read(path, :observation))
    end

    def measure(shape)
      measured = Measured.new(@journal, shape, @form)
      return if measured.whole?
      measured.starts.each_value { |start| record(shape, start) }
      servers = Servers.new(shape, @commands.command(shape))
      servers.run(measured.servers) do
        pilot(servers, measured)
        measured.starts.each { |start_name, start| advise(measured, start_name, start) }
        measured.qualifying_count.times { |round| round(servers, measured, round) }
      end
      finals(servers, measured)
    end

    def finals(servers, measured)
      (0..).each do |leg|
        rounds = measured.leg(leg)
        break if rounds.none?
        names = measured.running(rounds.first)
        next if rounds.all? { |round| names.all? { |name| measured.trial(name, round) } }
        servers.run(measured.servers.slice(*names)) do
          names.each { |name| servers.capacity_per_s(name, @form.pilot_s) } # to warm them up
          rounds.each { |round| round(servers, measured, round) }
        end
      end
    end

    # As `measure --load` does it.
    # @return [String] path of the recording
    def record(shape, start, companions: @form.companions)
      name = "recording #{shape.name} #{start}"
      @journal.path(name) || begin
        @say.call("#{shape.name}: recording at #{start}")
        traffic = PumaTuner::Load::Traffic.new(mix: shape.workload.mix, generator: PumaTuner::Load::Native.new,
          connections_count: PumaTuner::CLI::Options::Traffic::CONNECTIONS_CLOSED, seed: 1)
        times = PumaTuner::Measure::LoadedWindow::Times.new(warmup_s: @form.warmup_s, warmup_limit_s: 2 * @form.warmup_s, duration_s: @form.record_s)
        plan = PumaTuner::Measure::Recordings::Plan.new(command: @commands.command(shape), traffic:, today: start, settings: (companions ? nil : []), workers: [1, 2], times:,
          boot_limit_s: Validation::Session::BOOT_LIMIT_S, limit_s: nil)
        @journal.keep(name, PumaTuner::Measure::Recordings.new(plan).call)
        @journal.path(name)
      end
    end

    # Servers that are started anew are warmed up anew, and keep the capacity that was found.
    def pilot(servers, measured)
      @say.call("#{measured.shape.name}: what each of #{measured.servers.size} settings bears")
      measured.servers.each_key do |name|
        per_s = servers.capacity_per_s(name, @form.pilot_s)
        @journal.add("kind" => "capacity", "key" => "#{measured.shape.name}/#{name}", "per_s" => per_s) unless measured.capacity_per_s(name)
      end
    end

    def advise(measured, start_name, start)
      advise_from(measured, start_name, start) unless measured.advice(start_name)
    end

    def advise_from(measured, start_name, start)
      shape = measured.shape
      @say.call("#{shape.name}: advice from #{start}, for #{measured.rate_per_s.round} requests/s")
      sweep, list = Asked.of(record(shape, start), @form.grid, rate_per_s: measured.rate_per_s)
      predicted = sweep.forecasts.to_h { |forecast| [forecast.topology.to_s, forecast.p99_ns&.value] }
      @journal.add("kind" => "advice", "key" => "#{shape.name}/#{start_name}", **told(list, start),
        **measured_first(shape, list, measured.rate_per_s), "rate_per_s" => measured.rate_per_s, "predicted" => predicted,
        "commit" => Bench::Provenance::COMMIT)
    end

    # What advice to measure first leads to: the settings that it names are proven, as its reader would do with the
    # command that it names. The best that was shown to be better than today's is taken; today's, where none was.
    def measured_first(shape, list, rate_per_s)
      change = list.advice.find { |advice| advice.rule == "topology" }&.change
      return {} unless change&.kind == :measure
      topologies = change.facts.fetch("topologies")
      @say.call("#{shape.name}: measures #{topologies.join(", ")}, as it was advised to")
      verdict = proof(shape, topologies, rate_per_s).call { |*| nil }
      comparisons = topologies.drop(1).filter_map { |name| verdict.comparison(name, "p99") }
      best = comparisons.select { |one| one.outcome == :better }.min_by { |one| one.ratio.value }
      ratios = comparisons.to_h { |one| [one.variant, one.ratio.to_h.slice(:value, :low, :high)] }
      {"advised" => best&.variant || topologies.first, "measured_first" => ratios}
    rescue PumaTuner::MeasurementFailed => error
      {"measured_first" => {}, "reason" => error.message.lines.first.chomp}
    end

    # 8 rounds of twice the length showed nothing of lock: 2x5 had 0.90 (0.70 to 1.13) of the p99 of 2x3; nor did 24,
    # with 0.90 (0.81 to 1.01).
    PROOF_ROUNDS_COUNT = 40

    PROOF_METRICS = PumaTuner::Prove::Metric::SERVED.select { |metric| %w[throughput p50 p99].include?(metric.name) }

    def proof(shape, topologies, rate_per_s)
      variants = topologies.map { |name| PumaTuner::Prove::Variant.new(name:, factors: {"topology" => name}) }
      command = @commands.command(shape)
      traffic = PumaTuner::Load::Traffic.new(mix: shape.workload.mix, generator: PumaTuner::Load::Native.new,
        connections_count: Servers::CONNECTIONS_COUNT, seed: 1, arrivals: PumaTuner::Load::Arrivals.open(rate_per_s))
      times = PumaTuner::Tuner.trial_times(warmup_s: @form.warmup_s, duration_s: @form.trial_s,
        boot_limit_s: Validation::Session::BOOT_LIMIT_S)
      PumaTuner::Prove::Setup.served(variants, traffic:, times:, metrics: PROOF_METRICS, primary: "p99", seed: 1,
        preparation: PumaTuner::Prove::Preparation.new(variants:, command:, folder: nil),
        looks: PumaTuner::Prove::Looks.fixed(PROOF_ROUNDS_COUNT), bodies_may_differ: true).proof
    end

    # Advice that names no setting leaves it as it is.
    def told(list, start)
      {"today" => start.to_s, "advised" => (list.recommendation&.topology || start).to_s, "title" => list.advice.find { |advice| advice.rule == "topology" }&.title&.kind.to_s,
       "rules" => list.advice.map(&:rule).uniq - ["topology"]}
    end

    def round(servers, measured, round)
      names = measured.running(round)
      return if names.all? { |name| measured.trial(name, round) }
      shape = measured.shape
      @say.call("#{shape.name}: round #{round + 1}#{" of #{measured.planned_count}" if round >= measured.qualifying_count}, #{names.size} settings")
      Bench.order(names, round).each do |name|
        next if measured.trial(name, round)
        fields = servers.trial(name, measured.rate_per_s, round + 1, @form.trial_s)
        # Once more, for what others did; the second one stands as it is.
        fields = servers.trial(name, measured.rate_per_s, round + 1, @form.trial_s) if fields["disturbed"]
        @journal.add("kind" => "trial", "key" => "#{shape.name}/#{name}", "start" => round, **fields)
      end
    end

    def starve(start)
      return if @journal.at("starved", start.to_s)
      path = record(Shapes::STARVED, start, companions: false)
      _, list = Asked.of(path, @form.grid)
      @journal.add("kind" => "starved", "key" => start.to_s, **told(list, start))
    end
  end
end
