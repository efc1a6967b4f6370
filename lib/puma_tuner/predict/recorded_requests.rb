# frozen_string_literal: true

module PumaTuner
  module Predict
    # A workload's recorded requests as a Plan's numbers: what is the same in all simulations of it.
    class RecordedRequests
      # The app's code marks requests as I/O-bound, and we can't see it. Those whose CPU is under this share of their
      # time are taken to be marked. This is a judgement.
      IO_BOUND_CPU_RATIO = 0.1

      # What a request may compute, which is 9.8 hours, and take, which is 13 days: the core counts in 64 bits, a
      # nanosecond of CPU is 65,536 of its units, and requests by the thousand follow each other.
      LONGEST_CPU_NS = 2**45
      LONGEST_NS = 2**50

      # @param workload [Model::Workload]
      # @param early_ns [Integer] how long before its end a request's last burst sends the response, see Plan
      # @raise [UsageError] where a request takes longer than can be simulated
      def initialize(workload, early_ns: 0)
        @early_ns = early_ns
        @endpoints = workload.endpoints
        ensure_short
        @counts = @endpoints.map { |endpoint| endpoint.demands.size }
        pieces = @endpoints.flat_map(&:demands).map { |demand| pieces_of(demand) }
        @numbers = {pieces: pieces.flatten.pack("q*"), demands: beginnings(pieces).pack("q*"),
                    endpoints: endpoints.freeze}.freeze
      end

      # @return [Integer]
      attr_reader :early_ns

      # @return [Hash{Symbol => Object}] pieces, demands, endpoints
      def to_h = @numbers

      # @param random [Random, nil] for a resample with replacement; nil: each demand once
      # @return [Array<Integer>] by endpoint, which demands are drawn from
      def picks(random)
        first = 0
        @counts.flat_map do |count|
          (random ? Array.new(count) { first + random.rand(count) } : (first...first + count).to_a).tap do
            first += count
          end
        end
      end

      private

      def ensure_short
        long = @endpoints.flat_map(&:demands).find { |demand| too_long?(demand) } or return
        takes = Units.duration(long.held_ns + long.wait_ns)
        raise UsageError, "nothing can be predicted of requests that take #{takes}"
      end

      # To add up all at once is quicker than kind by kind, and a recording may have a hundred thousand waits.
      def too_long?(demand)
        held_ns = demand.held_ns
        return false if held_ns + demand.waits_ns.sum <= LONGEST_CPU_NS
        held_ns + demand.compute_ns > LONGEST_CPU_NS || held_ns + demand.wait_ns > LONGEST_NS
      end

      # Returns where each demand begins.
      def beginnings(pieces)
        first = 0
        pieces.map { |list| first.tap { first += list.size / 4 } }
      end

      # Burst, the part of it that is garbage collection, wait, kind of wait; at
      # a lock, its index in the place of the wait.
      def pieces_of(demand)
        bursts_ns = until_response(demand)
        gc_ns = gc_by_burst(bursts_ns, demand.gc_ns || 0)
        bursts_ns.each_index.flat_map do |index|
          kind = Probe::Parts::CODES.fetch(demand.wait_kinds[index] || "io")
          [bursts_ns[index], gc_ns[index], demand.waits_ns[index] || -1, kind]
        end
      end

      # The last time that the thread had the GVL is early_ns shorter. Locks
      # that it acquired and released meanwhile make several bursts of it.
      def until_response(demand)
        bursts_ns = demand.bursts_ns.dup
        left_ns = @early_ns
        bursts_ns.each_index.reverse_each do |index|
          part_ns = [left_ns, bursts_ns[index]].min
          bursts_ns[index] -= part_ns
          left_ns -= part_ns
          break unless index.positive? && Probe::Parts::MARKERS.key?(demand.wait_kinds[index - 1])
        end
        bursts_ns
      end

      # The recording does not say in which burst the garbage was collected. It is put at the end of the longest, as
      # that is where most is allocated, and what has no room there goes to the next longest. It is a nanosecond at
      # least, as a long collection comes where some was.
      def gc_by_burst(bursts_ns, gc_ns)
        parts_ns = Array.new(bursts_ns.size, 0)
        gc_ns = [gc_ns, 1].max
        Model::Demand.longest_first(bursts_ns).each do |index|
          parts_ns[index] = [gc_ns, bursts_ns[index]].min
          gc_ns -= parts_ns[index]
          break if gc_ns.zero?
        end
        parts_ns
      end

      # Upper end of its share, first pick, number of picks, whether it is
      # marked as I/O-bound, what it adds to long collections.
      def endpoints
        total = @endpoints.sum(&:weight_ratio)
        upper = 0.0
        first = 0
        @endpoints.zip(@counts).map do |endpoint, count|
          upper += endpoint.weight_ratio / total
          [upper, first, count, io_bound?(endpoint) ? 1 : 0, endpoint.gc_debt_ns].freeze.tap { first += count }
        end
      end

      def io_bound?(endpoint) = endpoint.mean_held_ns < IO_BOUND_CPU_RATIO * endpoint.mean_ns
    end
  end
end
