# frozen_string_literal: true

module PumaTuner
  module Calibrate
    # Measures how many cores' worth of work so many busy processes get done together. Cores that share an execution
    # unit, and a clock that slows down when all of them work, make it fewer than there are. It only computes: memory
    # that is fought for is not seen.
    class EffectiveCores
      ROUNDS_COUNT = 7
      WINDOW_S = 0.3

      # This quantile of the rounds counts: neighbours on the other half of a core can only take work away, and took up
      # to a fifth of that of two processes for the whole of a calibration, where two workers then served twice as much
      # as one. The best round does not count, as it may have met a neighbour when alone.
      QUANTILE = 0.8

      # Up to so many cores each number of processes is tried; of more cores
      # some, and between them a straight line is drawn.
      ALL_UP_TO = 6

      # @param cores_count [Integer]
      # @return [Array<Integer>] numbers of processes to try, ascending. With more than there are cores it is seen
      #   whether taking turns costs anything.
      def self.sizes(cores_count)
        return (1..cores_count + 2).to_a if cores_count <= ALL_UP_TO
        [1, 2, cores_count / 4, cores_count / 2, cores_count * 3 / 4, cores_count, cores_count + 2].uniq.sort
      end

      # @param rounds [Array<Hash{Integer => Float}>] in each, number of
      #   processes to the work that all of them get done in a time
      # @param cores_count [Integer]
      # @return [Array<Float>] see Model::Machine#effective_cores
      def self.of(rounds, cores_count)
        best = rounds.first.keys.sort.to_h do |size|
          [size, Stats::Quantile.of(rounds.map { |round| round.fetch(size) }.sort, QUANTILE)]
        end
        alone = best.fetch(1)
        unless alone.positive?
          raise InvalidMeasurement, "a CPU-bound process got no CPU time at all. Run this again when the machine is " \
            "idle."
        end
        measured = best.to_h { |size, work| [size, (work / alone).clamp(0.01, [size, cores_count].min.to_f)] }
        (1..best.keys.last).map { |size| between(measured, size).round(3) }.freeze
      end

      def self.between(measured, size)
        return measured.fetch(size) if measured.key?(size)
        low = measured.keys.select { |key| key < size }.max
        high = measured.keys.select { |key| key > size }.min
        measured[low] + (measured[high] - measured[low]) * (size - low).fdiv(high - low)
      end
      private_class_method :between

      # @param spinners [Spinners] of `sizes(cores_count).max`
      def initialize(spinners, cores_count, rounds_count: ROUNDS_COUNT, window_s: WINDOW_S)
        @spinners = spinners
        @cores_count = cores_count
        @rounds_count = rounds_count
        @window_s = window_s
      end

      # @return [Float] seconds, about
      def expected_s = @rounds_count * sizes.size * (@window_s + 0.03)

      # @return [Array<Float>]
      def call
        rounds = Array.new(@rounds_count) do |index|
          sizes.rotate(index).to_h { |size| [size, total(@spinners.work(size, @window_s), size)] }
        end
        self.class.of(rounds, @cores_count)
      end

      private

      def sizes = self.class.sizes(@cores_count)

      # Work for each nanosecond of CPU time, and as many cores as can be had. By the window's own duration, others on
      # the machine would count (with a neighbour on one core of two, two processes got 1.0 times the work of one done,
      # and 1.96 without), and so would a quota, which the Machine has in fields of its own.
      def total(works, size)
        works.sum(&:count).fdiv([works.sum(&:cpu_ns), 1].max) * [size, @cores_count].min
      end
    end
  end
end
