# frozen_string_literal: true

module PumaTuner
  module Predict
    # One simulation to run, as plain numbers: what the core in C takes.
    class Plan
      # Requests answered first and not counted, as a share of those counted, and for each connection of a closed loop:
      # the queues start empty, which is nothing like the state they settle in.
      WARM_UP_RATIO = 0.25
      WARM_UP_PER_CONNECTION_COUNT = 3

      # The kind of lock decides who has it next (ext/puma_tuner_sim/locks.c).
      HANDOVERS = {
        "mutex" => :first_is_woken, "monitor" => :first_is_woken, "pool" => :first_is_given,
        "unfair_pool" => :all_are_woken
      }.freeze

      # A core to itself, as a task's rate.
      WHOLE_RATE = 65_536

      # A simulation whose mean request takes more steps is given up, as 5,000 of them would take minutes. They are of
      # threads in the background that hardly rest, or of time slices in bursts that last for hours. A judgement.
      STEPS_PER_REQUEST_MAX = 200_000

      # Of all processes together. A judgement.
      THREADS_MAX = 100_000

      # A response leaves some time before the end of what is recorded as its request, and the thread does more before
      # it looks whether the connection's next request is there. Both race: the client's wake-up and work against
      # Puma's. Who wins decides whether the reactor is needed, and depends on whose caches are cold. It is set here so
      # that the middle wake-up ends in a tie.
      #
      # @param machine [Model::Machine]
      # @param tail_cpu_ns [Integer]
      # @return [Integer]
      def self.early_ns(machine, tail_cpu_ns)
        wakeup_ns = machine.wakeup_idle_ns.sort[machine.wakeup_idle_ns.size / 2]
        return 0 if machine.client_cpu_ns.zero?
        [wakeup_ns + machine.client_cpu_ns - tail_cpu_ns, 0].max
      end

      # @return [RecordedRequests]
      def self.recorded_requests(workload, machine)
        RecordedRequests.new(workload, early_ns: early_ns(machine, workload.tail_cpu_ns || machine.tail_cpu_ns))
      end

      # @param workload [Model::Workload]
      # @param machine [Model::Machine]
      # @param scenario [Scenario]
      # @param seed [Integer] of all that is left to chance; the same seed gives other scenarios the same requests
      # @param requests_count [Integer] to be counted
      # @param stations [Array<Station>]
      # @param resample [Boolean] whether the recorded requests are drawn from as they
      #   are, or from a resample of them with replacement, different for each seed: then
      #   the spread over seeds holds the recording's sampling error, too (bootstrap)
      # @param requests [RecordedRequests] of the workload; a sweep packs them once
      def initialize(workload:, machine:, scenario:, seed:, requests_count:, stations: [], resample: true,
        requests: Plan.recorded_requests(workload, machine))
        @requests = requests
        @workload = workload
        @machine = machine
        @scenario = scenario
        @seed = seed
        @requests_count = requests_count
        @stations = stations
        @resample = resample
      end

      # @return [Hash{Symbol => Object}] see struct plan in ext/puma_tuner_sim/sim.h; lists are packed as 64-bit numbers
      # @raise [UsageError] where there is more of something than can be simulated
      def to_h
        ensure_few
        {seed: @seed, requests_count: @requests_count, warm_up_count:, **server, **ruby, **machine, **switches,
         **arrivals, **requests, stations:, locks: packed(locks), background: packed(background),
         long_gcs_ns: packed(@workload.long_gcs_ns), steps_max:}.tap { |plan| ensure_short(plan) }
      end

      private

      # Each of them takes memory, before anything is simulated.
      def ensure_few
        own_count = @scenario.topology.threads_count + @scenario.io_threads_count
        threads_count = @scenario.topology.workers_count * (own_count + @workload.background.sum(&:threads_count))
        refuse("#{threads_count} threads") if threads_count > THREADS_MAX
        connections_count = @scenario.arrivals.connections_count
        return if Model::Arrivals::CONNECTIONS_COUNTS.cover?(connections_count)
        refuse("#{connections_count} connections")
      end

      # See RecordedRequests. A thread in the background may rest for longer than anything computes.
      def ensure_short(plan)
        times_ns = [*plan.select { |name, ns| name.end_with?("_ns") && ns.is_a?(Numeric) },
          *@workload.long_gcs_ns.map { |ns| [:long_gcs_ns, ns] },
          *@workload.background.map { |thread| [:burst_ns, thread.burst_ns] }]
        name, ns = times_ns.find { |_, one| !(0..RecordedRequests::LONGEST_CPU_NS).cover?(one) } ||
          @workload.background.map { |one| [:gap_ns, one.gap_ns] }.find { |_, one| one > RecordedRequests::LONGEST_NS }
        refuse("a model whose #{name} is #{ns}") if name
      end

      def refuse(what) = raise(UsageError, "nothing can be predicted of #{what}")

      def steps_max = (@requests_count + warm_up_count) * STEPS_PER_REQUEST_MAX

      def warm_up_count
        connections_count = @scenario.arrivals.open? ? 0 : @scenario.arrivals.connections_count
        [@requests_count * WARM_UP_RATIO, connections_count * WARM_UP_PER_CONNECTION_COUNT].max.ceil
      end

      def server
        topology = @scenario.topology
        {workers_count: topology.workers_count, threads_min: [@scenario.min_threads_count, topology.threads_count].min,
         threads_max: topology.threads_count, io_threads_max: @scenario.io_threads_count,
         tail_cpu_ns: tail_cpu_ns + @requests.early_ns, queue_requests: @scenario.queue_requests ? 1 : 0, **rules,
         after_response: code(:after_response, rules[:after_response])}
      end

      def rules
        Rules.puma(@workload.puma_version, features: @workload.puma_features, queue_requests: @scenario.queue_requests)
      end

      # Returns the core's number for a kind.
      def code(kind, name) = Engine.codes.fetch(kind).fetch(name)

      def tail_cpu_ns = @workload.tail_cpu_ns || @machine.tail_cpu_ns

      def ruby
        gvl_rule = code(:gvl_rule, Rules.gvl(@workload.ruby_version, measured: @machine.gvl_rule))
        timeslice_ms = @scenario.timeslice_ms || @workload.timeslice_ms
        {gvl_rule:, tick_ns: @machine.tick_ns, handoff_ns: @workload.handoff_ns || @machine.handoff_ns,
         handoff_busy_ns: @machine.handoff_busy_ns,
         ticks_per_slice: Rules.ticks_per_slice(timeslice_ms, @workload.ruby_version)}
      end

      def machine
        {cores_count: @machine.cores_count, quota_ns: @machine.quota_ns || 0, period_ns: @machine.period_ns || 0,
         rates: packed(rates), wakeup_idle_ns: packed(@machine.wakeup_idle_ns.sort),
         wakeup_loaded_ns: packed(@machine.wakeup_loaded_ns.sort),
         meeting_permille: (Model::MachineFit.meeting_ratio(@machine) * 1000).round,
         acceptor_cpu_ns: @machine.acceptor_cpu_ns,
         reactor_wakeup_cpu_ns: @machine.reactor_wakeup_cpu_ns,
         reactor_register_cpu_ns: @machine.reactor_register_cpu_ns, send_cpu_ns: @machine.client_send_cpu_ns,
         receive_cpu_ns: @machine.client_receive_cpu_ns}
      end

      # The cost that was measured in the app goes before that of the machine's calibration: another app has more in its
      # caches.
      def switches
        {switch_cpu_ns: (@workload.switch_cpu_ns || @machine.switch_idle_cpu_ns).round,
         switch_busy_cpu_ns: (@workload.switch_busy_cpu_ns || @machine.switch_busy_cpu_ns).round,
         cold_cpu_ns: (@workload.cold_cpu_ns || @machine.cold_cpu_ns).to_i,
         release_cpu_ns: @workload.release_cpu_ns.to_i, affinity: @scenario.affinity ? 1 : 0}
      end

      # Returns the rate of each task when so many are busy.
      def rates
        @machine.effective_cores.each.with_index(1).map do |cores, tasks_count|
          [(WHOLE_RATE * cores / tasks_count).floor, WHOLE_RATE].min
        end
      end

      def arrivals
        arrivals = @scenario.arrivals
        {arrivals: code(:arrivals, arrivals.kind.to_sym), connections_count: arrivals.connections_count,
         think_ns: arrivals.think_ns || 0, reuse_count: arrivals.reuse_count || 0,
         gap_ns: arrivals.open? ? Units::NS_PER_S / arrivals.rate_per_s : 0.0,
         group_count: (arrivals.burst_count || 1).to_f, times_ns: packed(arrivals.times_ns || [])}
      end

      def requests = {**@requests.to_h, picks: packed(@requests.picks(@resample ? Random.new(@seed) : nil))}

      # Returns the stations of what takes time; locks are each worker's own.
      def stations
        Probe::Parts::STEPS.map { |kind| @stations.find { |station| station.kind == kind }&.servers_count || 0 }
      end

      # Servers, and who has it next.
      def locks = @workload.locks.flat_map { |lock| [lock.servers_count, code(:handover, HANDOVERS.fetch(lock.kind))] }

      # Burst, and mean gap, of each thread.
      def background
        @workload.background.flat_map do |thread|
          [thread.burst_ns.round, [thread.gap_ns.round, 1].max] * thread.threads_count
        end
      end

      def packed(numbers) = numbers.pack("q*")
    end
  end
end
