# frozen_string_literal: true

require "time"

module PumaTuner
  module Calibrate
    # Runs all probes, one after the other, as each wants the machine for itself.
    class Run
      # Tells nobody of its progress.
      class Silence
        def stage(_title, _expected_s) = yield(self)

        def note(_text) = nil
      end

      # @param progress [#stage, nil]
      # @param effort_ratio [Float]
      # @param ruby [String] path of the executable
      # @param puma_version [String, nil] that there is to serve an empty app with
      def initialize(progress:, effort_ratio:, ruby:, puma_version: Lookup.own_puma_version)
        @progress = progress || Silence.new
        @effort_ratio = effort_ratio
        @ruby = ruby
        @puma_version = puma_version
      end

      # @yieldparam remark [String]
      # @return [Model::Machine]
      # @raise [InvalidMeasurement] where the kernel does not tell what threads use and wait for
      # @raise [UsageError] where there is no Puma: it comes last, and what was measured before would be lost
      def call(&remark)
        unless Probe::Processes.told?
          raise InvalidMeasurement, "a machine is calibrated by what Linux tells of threads in /proc, which is not " \
            "here; without it `predict` and `advise` take typical figures, and say so"
        end
        EmptyApp.ensure_puma(@puma_version)
        EmptyApp.traffic(*PumaCpu.through_the_reactor)
        disturbance, machine = Disturbance.during { measure }
        disturbance.remarks.each(&remark) if remark
        machine.with(calibrated: machine.calibrated.with(taken_ratio: disturbance.taken_ratio))
      end

      private

      def measure
        @facts = Probe::MachineFacts.read
        @ruby_version, @ruby_description = FreshRuby.facts(@ruby)
        ruby = of_ruby
        cores = of_cores
        puma, calibrated = of_puma
        Model::Machine.new(cores_count:, **@facts.quota, **ruby, **cores, **puma, tail_cpu_ns:, calibrated:)
      end

      def of_ruby
        tick = probe("tick", count(Tick::SAMPLES_COUNT) * Tick::EXPECTED_S_EACH) { tick() }
        gvl_rule = gvl_rule(tick)
        handoff = probe("hand-over of the GVL", Handoff::EXPECTED_S) do
          Handoff.call(runs_count: count(Handoff::RUNS_COUNT), ruby: @ruby)
        end
        {tick_ns: tick.median_ns, gvl_rule:, handoff_ns: handoff.median_ns}
      end

      # A thread that never rests uses a small quota up and is stopped, with the timer: half a core made 14 to 22 ms of
      # the tick. The simulation has the quota by itself.
      def tick
        return Sample.new(values_ns: [Model::MachineFit::TYPICAL.tick_ns]) if less_than_a_core?
        Tick.call(samples_count: count(Tick::SAMPLES_COUNT), ruby: @ruby)
      end

      def gvl_rule(tick)
        @progress.stage("rule of the GVL", GvlRule::DURATION_S) do |stage|
          rule, returns_per_s = GvlRule.call(tick, ruby: @ruby)
          stage.note("#{rule}: #{Units.rate(returns_per_s)} returns/s beside a thread that never rests")
          rule
        end
      end

      def of_cores
        idle = probe("waking up, idle", Wakeups::IDLE_S) { Wakeups.idle(samples_count: count(Wakeups::SAMPLES_COUNT)) }
        cold_cpu_ns = self.cold_cpu_ns
        meeting_ratio = self.meeting_ratio
        Spinners.open(EffectiveCores.sizes(cores_count).max) do |spinners|
          handoff = probe("hand-over, other cores busy", Handoff::BUSY_S) do
            Handoff.busy(spinners, busy_count, runs_count: count(Handoff::RUNS_COUNT), ruby: @ruby)
          end
          switch = switch_cpu(spinners)
          loaded = probe("waking up, all cores busy", Wakeups::LOADED_S * @effort_ratio) { loaded_wakeups(idle) }
          cores = EffectiveCores.new(spinners, cores_count, rounds_count: count(EffectiveCores::ROUNDS_COUNT))
          effective_cores = @progress.stage("cores", cores.expected_s) do |stage|
            cores.call.tap { |list| stage.note("#{list.join(", ")} for 1 to #{list.size} busy processes") }
          end
          {handoff_busy_ns: handoff.median_ns, **switch, wakeup_idle_ns: idle.thinned(Wakeups::KEPT_COUNT),
           wakeup_loaded_ns: loaded.thinned(Wakeups::KEPT_COUNT), effective_cores:, meeting_ratio:, cold_cpu_ns:}
        end
      end

      # @return [Integer] nanoseconds; less than nothing is noise
      def cold_cpu_ns
        sample = probe("burst after a rest", ColdCpu::EXPECTED_S) do
          ColdCpu.call(rounds_count: count(ColdCpu::ROUNDS_COUNT), ruby: @ruby)
        end
        [sample.median_ns, 0].max
      end

      def switch_cpu(spinners)
        duration_s = [SwitchCpu::DURATION_S * @effort_ratio, 0.1].max
        @progress.stage("CPU of a hand-over", SwitchCpu.expected_s(duration_s)) do |stage|
          @switch_costs = SwitchCpu.call(spinners, busy_count, duration_s:, ruby: @ruby)
          middle = @switch_costs.find { |cost| cost.working_set_bytes == SwitchCpu::MIDDLE_BYTES }
          stage.note("#{Units.duration(middle.idle_ns)} more for a burst after another thread's, " \
            "#{Units.duration(middle.busy_ns)} with all other cores busy")
          {switch_idle_cpu_ns: middle.idle_ns, switch_busy_cpu_ns: middle.busy_ns}
        end
      end

      # On a single core there is no other that could be idle.
      def meeting_ratio
        return Model::MachineFit::TYPICAL.meeting_ratio if busy_count < 2
        duration_s = [Meetings::DURATION_S * @effort_ratio, 0.5].max
        @progress.stage("workers that share a core", Meetings.expected_s(duration_s)) do |stage|
          Meetings.ratio(busy_count, cores_count:, duration_s:).tap do |ratio|
            stage.note("#{Units.percent(ratio)} of what chance would give")
          end
        end
      end

      # With less than a core, nobody who computes is on another's core for long: the quota stops both.
      def loaded_wakeups(idle)
        return idle if less_than_a_core?
        Wakeups.loaded(busy_count, duration_s: [Wakeups::LOADED_S * @effort_ratio, 0.5].max)
      end

      def of_puma
        EmptyApp.serve do |app|
          app.warm_up
          client = client(app)
          app.never_park
          cpu = puma_cpu(app)
          share = @progress.stage("Puma's reactor", RegisterShare::EXPECTED_S) { |stage| register_share(app, stage) }
          [{acceptor_cpu_ns: cpu.acceptor.median_ns, **reactor(cpu.reactor.median_ns, share),
            **halves(client.cpu.median_ns)}, calibrated(app, client)]
        end
      end

      def register_share(app, stage)
        share = RegisterShare.new(app, batches_count: count(RegisterShare::BATCHES_COUNT)).call
        stage.note("#{Units.percent(share)} of its CPU to take a connection in, the rest to wake up and read")
        share
      end

      def puma_cpu(app)
        turns_count = count(PumaCpu::TURNS_COUNT)
        @progress.stage("Puma's own CPU", PumaCpu.expected_s(turns_count)) do |stage|
          PumaCpu.new(app, turns_count:).call.tap do |cpu|
            stage.note("acceptor #{cpu.acceptor}, reactor #{cpu.reactor}, pool #{cpu.pool}")
          end
        end
      end

      def client(app)
        turns_count = count(Client::TURNS_COUNT)
        @progress.stage("one client", Client.expected_s(turns_count)) do |stage|
          Client.new(app, turns_count:).call.tap do |client|
            stage.note("#{client.round_trip}, of it its own CPU #{client.cpu}")
          end
        end
      end

      def reactor(total_ns, register_share)
        register_ns = (total_ns * register_share).round
        {reactor_register_cpu_ns: register_ns, reactor_wakeup_cpu_ns: total_ns - register_ns}
      end

      # A judgement: to write a request and to read a response are a system call each, and a look at who is ready each.
      def halves(cpu_ns) = {client_send_cpu_ns: cpu_ns / 2, client_receive_cpu_ns: cpu_ns - cpu_ns / 2}

      def calibrated(app, client)
        puma_version = app.facts["puma_version"]
        Model::Calibrated.new(calibrated_at: Time.now.utc.iso8601,
          machine_key: Calibrate.key_of(@facts, @ruby_version, puma_version), ruby_version: @ruby_version,
          ruby_description: @ruby_description, puma_version:, round_trip_ns: client.round_trip.median_ns,
          switch_costs: @switch_costs)
      end

      def tail_cpu_ns
        @progress.stage("Puma's pool threads", Tail.expected_s) do |stage|
          ns, requests_count = Tail.new(duration_s: [Tail::DURATION_S * @effort_ratio, 0.5].max).call
          stage.note("#{Units.duration(ns)} after a response (#{requests_count} requests)")
          ns
        end
      end

      def cores_count = @facts.cores_count

      # Processes that compute more than the quota allows would be stopped altogether, and with them what is measured.
      # @return [Integer] how many cores can be busy together
      def busy_count = [cores_count, @facts.cpu_quota_cores&.floor].compact.min.clamp(1..)

      def less_than_a_core? = @facts.cpu_quota_cores&.<(1)

      def count(usual) = [(usual * @effort_ratio).round, 1].max

      def probe(title, expected_s)
        @progress.stage(title, expected_s) { |stage| yield.tap { |sample| stage.note(sample.to_s) } }
      end
    end
  end
end
