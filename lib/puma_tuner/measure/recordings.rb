# frozen_string_literal: true

module PumaTuner
  module Measure
    # Records an app at today's settings and then, briefly, at others, each in a fresh server under the same traffic:
    # one recording can't tell what changes with threads and workers. On a new Rails 8.1 app CPU per request was 10.5 ms
    # at 1x1, 13.3 ms at 1x5 and 7.5 ms at 2x1.
    class Recordings
      # The share of the time for today's settings that the others get.
      BRIEF_RATIO = 0.6

      # This is the least count of each request of the mix that tells something; where there are fewer, recording goes
      # on for longer, up to the time for today's settings.
      LEAST_COUNT_PER_REQUEST = 3

      # An app is expected to have these settings before its own are known.
      USUAL_TOPOLOGY = Topology.new(workers_count: 1, threads_count: 5)

      # The plan of what to record.
      #
      # today: Topology, nil for the command's own; settings: Topologies to record besides, nil: those that tell most
      # workers: numbers of workers that are to be predicted
      # times: LoadedWindow::Times for today's settings; limit_s: seconds for
      #   all recordings together, nil: as long as they take
      # locks: whether they are watched; lanes: whether it is recorded what each thread does when
      Plan = Data.define(:command, :traffic, :today, :settings, :workers, :times, :boot_limit_s, :limit_s, :locks,
        :lanes) do
        def initialize(locks: true, lanes: false, **fields) = super
      end

      # @param plan [Plan]
      # @param kept [#call] told of the observation as far as it is known: an interruption loses nothing
      # @param window [#new] see LoadedWindow
      def initialize(plan, kept: ->(_) {}, window: LoadedWindow)
        @plan = plan
        @kept = kept
        @window = window
      end

      # @yieldparam what [String] has happened
      # @yieldparam left_s [Float] seconds that the rest should take
      # @return [Observation] at today's settings, with the others as its companions
      # @raise [MeasurementFailed] when today's settings can't be recorded;
      #   others are then left out, and `unknown` says why
      def call(&told)
        @began_s = Clock.now_s
        observation = keep(record_today(told))
        @took_s = Clock.now_s - @began_s
        wanted = @plan.settings || Companions.of(observation.topology, @plan.workers, gc_ratio: gc_ratio(observation))
        wanted -= [observation.topology]
        wanted.each_with_index do |topology, index|
          observation = keep(with_companion(observation, topology, wanted.size - index - 1, told))
        end
        observation
      end

      private

      def keep(observation) = observation.tap { @kept.call(observation) }

      def record_today(told)
        times = @plan.times.with(part_load_s: @plan.times.duration_s * BRIEF_RATIO).within(@plan.limit_s)
        @brief = times.with(duration_s: times.duration_s * BRIEF_RATIO, duration_limit_s: times.duration_s,
          part_load_s: 0, least_requests_count: LEAST_COUNT_PER_REQUEST * @plan.traffic.mix.requests.size)
        @saved_s = times.duration_s + times.part_load_s - @brief.duration_s
        later_s = @plan.limit_s ? 0 : @brief.expected_s * settings_expected.size
        record(@plan.today, times) { |what, left_s| told&.call(what, left_s + later_s) }
      end

      def gc_ratio(observation)
        budget = observation.budget
        budget.on_core_ns&.positive? ? budget.gc_ns.fdiv(budget.on_core_ns) : 0.0
      end

      def settings_expected = @plan.settings || Companions.of(@plan.today || USUAL_TOPOLOGY, @plan.workers)

      def with_companion(observation, topology, later_count, told)
        if @plan.limit_s && Clock.now_s - @began_s + brief_s > @plan.limit_s
          return without(observation, topology, :no_time)
        end
        told&.call("#{topology}, briefly", brief_s * (later_count + 1))
        companion = record(topology, @brief) do |what, left_s|
          told&.call("#{topology}: #{what}", left_s + brief_s * later_count)
        end
        if companion.requests_count < @brief.least_requests_count
          return without(observation, topology, :few_requests, requests_count: companion.requests_count)
        end
        observation.with(companions: [*observation.companions, companion].freeze)
      rescue UsageError, MeasurementFailed => error
        without(observation, topology, :failed, detail: error.kept.lines.first.chomp)
      end

      def without(observation, topology, cause, **facts)
        observation.with(unknown: [*observation.unknown,
          Unknown.of(:companion, cause, whose: topology.to_s, **facts)].freeze)
      end

      # @return [Float] about as long as today's took, less what is saved
      def brief_s = @took_s - @saved_s

      def record(topology, times, &told)
        @window.new(command: @plan.command, traffic: @plan.traffic, topology:, times:, boot_limit_s: @plan.boot_limit_s,
          locks: @plan.locks, lanes: @plan.lanes).call(&told)
      end
    end
  end
end
