# frozen_string_literal: true

module PumaTuner
  module Advise
    # One part of a mean request's time: usual_ns of all but the slow ones, slow_ns of these.
    TailPart = Document.define(:name, :usual_ns, :slow_ns, symbols: [:name]) do
      # @return [Float] nanoseconds that slow requests take longer
      def more_ns = slow_ns - usual_ns
    end

    # What makes the slowest requests slow, and what their percentile would be without it: threads that wait for each
    # other's GVL, or garbage collection? The question is that of rails/rails#50450.
    #
    # percentile_ratio: from where on a request counts as slow, such as 0.99; slow_count, requests_count: recorded step
    #   by step, of which these are the slowest
    # parts: Array<TailPart>, whose sum is the time in Puma; cause: name of the one in which slow requests differ most;
    #   cause_ratio: its share of what they take longer
    # p99_ns: Estimate, of today's setting; without_gc_ratio, one_thread_ratio: Estimates of p99 over today's, without
    #   any garbage collection and with one thread in each worker; nil where nobody can forecast it
    Tail = Document.define(:percentile_ratio, :slow_count, :requests_count, :parts, :cause, :cause_ratio, :p99_ns,
      :without_gc_ratio, :one_thread_ratio, symbols: [:cause],
      nested: {parts: [TailPart], p99_ns: Stats::Estimate, without_gc_ratio: Stats::Estimate,
               one_thread_ratio: Stats::Estimate})

    # Finds the Tail of recorded requests.
    class TailSearch
      # The slowest of a hundred, or as many as it takes to tell anything.
      SLOW_RATIO = 0.01
      LEAST_SLOW_COUNT = 5

      # Fewer recorded requests have no tail to speak of. A judgement.
      LEAST_COUNT = 100

      # Steps by the part that they are of; what is with the GVL is CPU, but for garbage collection.
      STEPS = {
        gvl_wait: %w[gvl_wait], io: Probe::Parts.steps_of(:io), lock: Probe::Parts.steps_of(:lock),
        sleep: %w[sleep], cpu: %w[held compute]
      }.freeze

      # @param situation [Situation]
      def initialize(situation)
        @situation = situation
      end

      # @return [Tail, nil] nil where too few requests were recorded
      def call
        return if requests.size < LEAST_COUNT
        parts = parts()
        worst = parts.max_by(&:more_ns)
        more_ns = parts.sum(&:more_ns)
        return unless more_ns.positive?
        Tail.new(percentile_ratio: 1 - slow_ratio, slow_count: slow.size, requests_count: requests.size, parts:,
          cause: worst.name, cause_ratio: worst.more_ns / more_ns, **forecasts)
      end

      private

      # @return [Array<Array(Float, Hash)>] how many requests each stands for, and its parts in nanoseconds; by its time
      def requests
        @requests ||= @situation.observation&.endpoints.to_a.flat_map { |endpoint|
          weight = endpoint.requests_count.fdiv([endpoint.traces.size, 1].max)
          endpoint.traces.map { |trace| [weight, parts_of(trace)] }
        }.sort_by { |_, parts| parts.values.sum }
      end

      def parts_of(trace)
        sums = Hash.new(0)
        trace.steps.each_slice(2) { |kind, ns| sums[kind] += ns }
        parts = STEPS.transform_values { |kinds| kinds.sum { |kind| sums[kind] } }
        gc_ns = [trace.gc_ns.to_i, parts[:cpu]].min
        {queue: trace.queue_ns.to_i, **parts, cpu: parts[:cpu] - gc_ns, gc: gc_ns}
      end

      def slow_ratio = [SLOW_RATIO, LEAST_SLOW_COUNT.fdiv(requests.size)].max

      # From the slowest on, until they stand for that share of all requests.
      def slow
        @slow ||= begin
          wanted = slow_ratio * requests.sum(&:first)
          requests.reverse.take_while { |weight, _| (wanted -= weight) + weight > 0 }
        end
      end

      def parts
        usual = requests.first(requests.size - slow.size)
        [*STEPS.keys, :queue, :gc].map do |name|
          TailPart.new(name:, usual_ns: mean(usual, name), slow_ns: mean(slow, name))
        end
      end

      def mean(requests, name)
        weight = requests.sum(&:first)
        requests.sum { |share, parts| share * parts.fetch(name) } / weight
      end

      def forecasts
        timed = @situation.workload.endpoints.all?(&:mean_gc_ns)
        without_gc = @situation.effect(what_if: ["gc=0"]) if timed
        if @situation.topology.threads_count > 1
          one_thread = @situation.effect(topology: @situation.topology.with(threads_count: 1))
        end
        {p99_ns: @situation.today.p99_ns, without_gc_ratio: without_gc&.p99_ratio,
         one_thread_ratio: one_thread&.p99_ratio}
      end
    end
  end
end
