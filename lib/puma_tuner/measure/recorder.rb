# frozen_string_literal: true

module PumaTuner
  module Measure
    # Adds up the finished requests of this process, thread by thread: no thread writes what another writes, so no lock.
    class Recorder
      # Traces kept per endpoint and thread, a uniform sample of the window (Vitter's algorithm R).
      # 60 on five threads make 300 for an endpoint: its 99th percentile rests on three of them.
      TRACES_MAX = 60

      # What an endpoint's sums hold; nanoseconds.
      SUMS = %i[wall queue cpu preempted gvl_wait gc io lock sleep].freeze
      PLACES = SUMS.to_h { |name| [name, GvlClock::NUMBERS.index(name)] }.freeze

      # One endpoint on one thread. traces: [steps, wall_ns, queue_ns, cpu_clock_ns, gc_ns]
      EndpointRecord = Struct.new(:name, :requests_count, :sums, :traces)

      # One thread: its requests since `window`.
      ThreadRecord = Struct.new(:window, :endpoint, :numbers, :endpoints, :random)

      def initialize(seed: 1)
        @seed = seed
        @window = 0
      end

      # @return [Boolean] false when this thread serves a request already
      def begin = GvlClock.request_begin

      # Closes the request that this thread serves. What goes wrong here must not reach the app.
      # @param env [Hash] its Rack environment
      # @param queued_ns [Integer, nil] monotonic time when it was put into Puma's list; nil when it never was
      def finish(env, queued_ns)
        record = thread_record
        name = record.endpoint.name(env)
        endpoint = record.endpoints[name] ||= EndpointRecord.new(name, 0, Array.new(SUMS.size, 0), [])
        place = sample_place(endpoint, record)
        steps = GvlClock.request_end(record.numbers, !place.nil?)
        add(endpoint, record.numbers, queued_ns, place, steps) if steps
      rescue => error
        @failed ||= warn("puma_tuner: a request could not be recorded (#{error.class}: #{error.message}); please report this") || true
      end

      # Closes the request that this thread serves, as if it had not been.
      def discard = GvlClock.request_end(thread_record.numbers, false)

      # Begins a new window; what was recorded before is forgotten by each thread at its next request.
      def reset = @window += 1

      # @return [Hash{Thread => Array<EndpointRecord>}] of the current window
      def endpoints_by_thread
        Thread.list.filter_map { |thread|
          record = thread.thread_variable_get(:puma_tuner_record)
          [thread, record.endpoints.values] if record && record.window == @window
        }.to_h
      end

      private

      def thread_record
        record = Thread.current.thread_variable_get(:puma_tuner_record)
        unless record
          record = ThreadRecord.new(@window, Endpoint.new, [], {}, Random.new(@seed + Thread.current.object_id))
          Thread.current.thread_variable_set(:puma_tuner_record, record)
        end
        unless record.window == @window
          record.endpoints = {}
          record.window = @window
        end
        record
      end

      def sample_place(endpoint, record)
        return endpoint.requests_count if endpoint.requests_count < TRACES_MAX
        place = record.random.rand(endpoint.requests_count + 1)
        place if place < TRACES_MAX
      end

      def add(endpoint, numbers, queued_ns, place, steps)
        queue_ns = queued_ns ? [numbers[0] - queued_ns, 0].max : 0
        endpoint.requests_count += 1
        sums = endpoint.sums
        PLACES.each_with_index do |(name, number), index|
          sums[index] += (name == :queue) ? queue_ns : numbers[number]
        end
        sums[0] += queue_ns
        return unless place
        endpoint.traces[place] = [steps, numbers[1], queue_ns, numbers[PLACES[:cpu]] + numbers[PLACES[:gc]], numbers[PLACES[:gc]]]
      end
    end
  end
end
