# frozen_string_literal: true

require_relative "../support/other_generators"
require_relative "apps/steps"
require_relative "beside"
require_relative "schedule"

module Validation
  # Why something is not there, for a table.
  module Reason
    # @param error [PumaTuner::Error]
    # @return [String] in one line, as a clause, and without the folders of this machine: it goes into a page
    def self.of(error) = error.message.lines.first.strip.gsub(%r{(?<!\S)(?:/[^\s:/]+)+/}, "").delete_suffix(".")
  end

  # How fast the machine computes just now. A virtual core that shares a real one with a stranger's loses up to two fifths of its
  # speed for seconds at a time, and no count of the kernel's shows it: the loop of the workloads then takes as much longer.
  #
  # A thread of ours runs the loop for half a millisecond ten times a second; what it takes of the machine is a quarter of a per
  # cent of two cores. By the thread's CPU clock, so that waiting for a core does not count.
  module Speed
    TURNS_COUNT = 25_000
    PAUSE_S = 0.1

    # Between a recording and a cell, and between a recording and the machine's best. A cell is predicted for the machine as fast
    # as it was then; beyond this, memory and caches will not have slowed down as much as the loop has. (On the machine that this was
    # written on, neighbours take 20 to 40% for minutes; with less tolerance two thirds of the cells would not count.)
    TOLERANCE_RATIO = 0.35

    # Of the samples for the machine's best. The rest may have met somebody.
    BEST_RATIO = 0.33

    class << self
      # @yield what the speed is wanted of
      # @return [Array(Object, Float)] what the block returned, and turns of the loop to a millisecond on average
      def during
        times_ns = []
        sampler = Thread.new { loop { sleep PAUSE_S and times_ns << once_ns } }
        result = yield
        [result, mean(times_ns.empty? ? [once_ns] : times_ns)]
      ensure
        sampler&.kill&.join
      end

      # @return [Float] turns to a millisecond when nobody interferes, after pauses like those under load
      def best(samples_count: 30)
        times_ns = Array.new(samples_count) { sleep(PAUSE_S) && once_ns }
        mean(times_ns.min((samples_count * BEST_RATIO).ceil))
      end

      # @param now [Float] turns to a millisecond
      # @param wanted [Float]
      # @param then_words [String] what it is held against
      # @return [String, nil] why they can't be compared, as a clause
      def difference(now, wanted, then_words)
        ratio = now / wanted - 1
        return if ratio.abs <= TOLERANCE_RATIO
        "the machine was #{PumaTuner::Units.percent(ratio.abs)} #{ratio.negative? ? "slower" : "faster"} than #{then_words}"
      end

      private

      def once_ns
        began_ns = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID, :nanosecond)
        ValidationSteps.burn(TURNS_COUNT)
        Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID, :nanosecond) - began_ns
      end

      def mean(times_ns) = TURNS_COUNT * times_ns.size * PumaTuner::Units::NS_PER_MS.fdiv(times_ns.sum)
    end
  end

  # One server and its cells, which differ in load: all loads without the probe, in turns, so that what disturbs the machine
  # meets each of them; then the probe is put in, and each load is sent once more for the wait for the GVL.
  #
  # It makes a hash for the journal of each cell:
  #   start: which of several servers it was, counted from 0; connections_count; rate_per_s: of an open load, as it was asked for, else nil; load_s: of each repeat
  #   repeats: latency (histogram), turns_per_ms (see Speed); requests_count: that the server worked for, counted_count: that throughput and
  #     latency are of; intended_count, duration_ns, throughput_per_s, mean_ns, p50_ns, p99_ns; cpu_ns: of the server; beside_cpu_ns:
  #     of what runs beside it for it, see Beside and Service; conditions
  #     (PumaTuner::Prove::Conditions); failure: why it is no measurement of this load, or nil; disturbed: who else used the machine, or nil
  #   gvl_wait: requests_count, mean_ns, deviation_ns; nil when nothing could be seen
  #   failure: why there is nothing else
  class Session
    OPEN_CONNECTIONS_COUNT = 500
    BOOT_LIMIT_S = 90

    # Repeats that may take the place of disturbed ones.
    EXTRA_COUNT = 2

    # What to send, and for how long. rate_per_s: of an open load
    Plan = Data.define(:cell, :connections_count, :rate_per_s, :load_s) do
      def arrivals = rate_per_s ? PumaTuner::Load::Arrivals.open(rate_per_s) : PumaTuner::Load::Arrivals.closed

      # @param seed [Integer]
      # @param by_wrk [Boolean] whether wrk sends it
      def traffic(seed, by_wrk: cell.level.wrk?)
        mix = cell.subject.workload.mix
        generator = by_wrk ? OtherGenerators::Wrk.new : PumaTuner::Load::Native.new
        PumaTuner::Load::Traffic.new(mix: by_wrk ? without_texts(mix) : mix, generator:, connections_count:, seed:, arrivals:).ensure_generator
      end

      private

      # wrk can't look for them.
      def without_texts(mix) = mix.with(requests: mix.requests.map { |request| request.with(expected_text: nil) })
    end

    # @param command [PumaTuner::Host::Command]
    # @param topology [PumaTuner::Topology]
    # @param plans [Array<Plan>]
    # @param times [Times]
    # @param start [Integer] which of several servers it is: the order of requests differs between them, too
    # @param cores_count [Integer]
    # @param turns_per_ms [Float, nil] the machine's speed while the subject was recorded, see Speed; nil: it was recorded at the same time
    # @param service [Service, nil] that the app asks once for each request, and nobody else does
    def initialize(command:, topology:, plans:, times:, cores_count:, turns_per_ms: nil, start: 0, service: nil)
      @service = service
      @turns_per_ms = turns_per_ms
      @start = start
      @command = command
      @topology = topology
      @plans = plans
      @times = times
      @cores_count = cores_count
      @outcomes = Hash.new { |outcomes, plan| outcomes[plan] = [] }
    end

    # @return [Hash{Cell => Hash}] what goes into the journal
    def call
      with_server do |server|
        attend(server)
        warm_up(@times.warmup_s)
        (@times.repeats_count + EXTRA_COUNT).times { |number| turn(number) }
        finish
      end
    rescue PumaTuner::UsageError, PumaTuner::MeasurementFailed => error
      @plans.to_h { |plan| [plan.cell, {"kind" => "cell", "key" => plan.cell.key, "start" => @start, "failure" => Reason.of(error)}] }
    end

    # @yieldparam server [PumaTuner::Host::ServerProcess] for as long as the block lasts
    def with_server(&) = PumaTuner::Host::ServerProcess.run(@command, topology: @topology, meter: true, boot_limit_s: BOOT_LIMIT_S, &)

    # @param server [PumaTuner::Host::ServerProcess] that the rest is about
    def attend(server)
      @server = server
      @meter = PumaTuner::Host::SignalQuery.new(server.directory)
    end

    # With the most that will be sent.
    # @param seconds [Numeric]
    def warm_up(seconds)
      busiest = @plans.max_by { |plan| [plan.rate_per_s ? 0 : 1, plan.connections_count] }
      busiest.traffic(0, by_wrk: false).send_to(@server.url, duration_s: seconds)
    end

    # Sends each load once, but for those that have enough undisturbed repeats.
    # @param number [Integer] how many there were before
    def turn(number) = lacking(number).each { |plan| @outcomes[plan] << repeat(@server, plan, number) }

    # @return [Hash{Cell => Hash}] what goes into the journal
    def finish
      waits = @plans.to_h { |plan| [plan, (gvl_wait(@server, plan) if plan.cell.probed?)] }
      @plans.to_h { |plan| [plan.cell, fields(plan, waits.fetch(plan))] }
    end

    private

    def lacking(number)
      lacking = @plans.select { |plan| @outcomes[plan].count { |_, circumstances| circumstances.values_at("failure", "disturbed").none? } < @times.repeats_count }
      number.odd? ? lacking.reverse : lacking
    end

    def repeat(server, plan, number)
      @service&.counts # it counts anew from here
      before = PumaTuner::Host::Readings.take(server, nil)
      own_ns, beside_ns = PumaTuner::Clock.cpu_ns, beside_cpu_ns(server)
      outcome, turns_per_ms = Speed.during { plan.traffic(seed(number)).send_to(server.url, duration_s: plan.load_s) }
      own_ns, beside_ns = PumaTuner::Clock.cpu_ns - own_ns, beside_cpu_ns(server) - beside_ns
      spent = PumaTuner::Host::Readings.take(server, nil) - before
      conditions = PumaTuner::Prove::Conditions.of(spent:, gauges: [], outcome:, own_cpu_ns: own_ns + beside_ns, cores_count: @cores_count, fingerprint: {})
      [outcome, {"cpu_ns" => spent.cpu_ns, "beside_cpu_ns" => beside_ns, "turns_per_ms" => turns_per_ms, "conditions" => conditions,
                 "failure" => outcome.complaint || miscounted(outcome, plan),
                 "disturbed" => disturbed(outcome, conditions, turns_per_ms, plan)}]
    end

    # By causes only: what came out decides nothing. The pressure of waiting for a core (PSI) is no cause: on cores that server and
    # generator fill it is they who wait.
    def disturbed(outcome, conditions, turns_per_ms, plan)
      return if outcome.complaint
      PumaTuner::Prove::ValidityChecks.failed(outcome, conditions, arrivals: plan.arrivals)&.detail || PumaTuner::Prove::Disturbance.of_unpaired(conditions) ||
        (@turns_per_ms && Speed.difference(turns_per_ms, @turns_per_ms, "while it was recorded"))
    end

    SEEDS_COUNT = 20
    private_constant :SEEDS_COUNT

    def seed(number) = @start * SEEDS_COUNT + number + 1

    # The generator waits for all responses, so that as many requests came to the service as it had. And a closed loop had all places
    # in use that it could.
    def miscounted(outcome, plan)
      return unless @service
      most_count = [@service.places_count, @topology.slots_count, plan.connections_count].min
      @service.complaint(outcome.requests_count, plan.rate_per_s ? (1..most_count) : most_count)
    end

    def beside_cpu_ns(server) = Beside.cpu_ns(server) + (@service ? @service.cpu_ns : 0)

    def gvl_wait(server, plan)
      observation = PumaTuner::Measure::LateWindow.call(server, @meter) { plan.traffic(100).send_to(server.url, duration_s: @times.probe_s) }
      return unless observation&.budget&.gvl_wait_ns
      count = observation.requests_count
      mean_ns = observation.budget.gvl_wait_ns.fdiv(count)
      {"requests_count" => count, "mean_ns" => mean_ns, "deviation_ns" => deviation_ns(observation, mean_ns)}
    end

    # Of single requests around their mean, out of the histograms.
    def deviation_ns(observation, mean_ns)
      histograms = observation.endpoints.flat_map { |endpoint| endpoint.distributions.select { |one| one.part.to_s == "gvl_wait" }.map(&:histogram) }
      return if histograms.empty?
      all = histograms.sum(PumaTuner::Probe::Histogram.empty)
      squares = all.counts.sum { |bucket, count| count * (all.class.range_of(bucket).begin - mean_ns)**2 } + all.zero_count * mean_ns**2
      Math.sqrt(squares / [all.count, 1].max)
    end

    OUTCOME = %i[requests_count counted_count intended_count duration_ns throughput_per_s mean_ns p50_ns p99_ns].freeze
    private_constant :OUTCOME

    def figures(outcome) = OUTCOME.to_h { |name| [name.to_s, outcome.public_send(name)] }.merge("latency" => outcome.latency&.to_document)

    def fields(plan, gvl_wait)
      repeats = @outcomes.fetch(plan)
      {
        "kind" => "cell", "key" => plan.cell.key, "start" => @start, "at" => Time.now.utc.strftime("%FT%TZ"), "connections_count" => plan.connections_count,
        "rate_per_s" => plan.rate_per_s, "load_s" => plan.load_s,
        "repeats" => repeats.map { |outcome, circumstances| {**figures(outcome), **circumstances} },
        "gvl_wait" => gvl_wait, "failure" => nil
      }
    end
  end
end
