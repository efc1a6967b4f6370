# frozen_string_literal: true

module PumaTuner
  module Predict
    # Queues that textbooks solve. Times are in any one unit, rates in its inverse; nil where there is no steady state.
    #
    # Sources: L. Kleinrock, Queueing Systems I (1975) and II (1976); E. Lazowska et al., Quantitative System
    # Performance (1984). "Wait" is theirs here: from joining a queue to the beginning of service.
    module Queueing
      # A station, or a network of them, in its steady state.
      #
      # throughput: rate of those who leave; present: mean number of those inside
      State = Data.define(:throughput, :present) do
        # @return [Float] mean time inside, by Little's law
        def latency = present / throughput
      end

      # Exact mean value analysis: one queue, and a delay without queue. An arriving customer finds the queue that there
      # would be without it. Reiser and Lavenberg, J. ACM 27 (1980); Lazowska, ch. 6.
      #
      # @param service [Numeric] mean time at the queue's server, in all its visits
      # @param delay [Numeric] mean time elsewhere
      # @return [Array<Float>] throughput with 1, 2, ... customers going round
      def self.mva(customers_count, service:, delay:)
        queued = 0.0
        (1..customers_count).map do |count|
          response = service * (1 + queued)
          throughput = count / (response + delay)
          queued = throughput * response
          throughput
        end
      end

      # Balance of the flows between neighbouring states (Kleinrock I, ch. 3). In logarithms, as the states of a
      # thousand connections without think time differ by more powers of ten than a Float has.
      #
      # @param births [Array<Numeric>] rate from state 0 to 1, 1 to 2, ...
      # @param deaths [Array<Numeric>] rate from state 1 to 0, 2 to 1, ...
      # @return [Array<Float>] probability of each state
      def self.birth_death(births, deaths)
        logs = births.zip(deaths).each_with_object([0.0]) do |(birth, death), list|
          list << list.last + Math.log(birth.fdiv(death))
        end
        highest = logs.max
        weights = logs.map { |log| Math.exp(log - highest) }
        total = weights.sum
        weights.map { |weight| weight / total }
      end

      # Clients that think and then want a station whose speed depends on how many it holds: a flow-equivalent server
      # (Lazowska, ch. 8).
      #
      # @param rates [Array<Numeric>] at which requests leave when 1, 2, ... are inside; the last holds for more
      # @return [State] of the station
      def self.closed_flow(customers_count, think:, rates:)
        deaths = (1..customers_count).map { |count| rates[[count, rates.size].min - 1] }
        if think.zero? || customers_count.zero?
          return State.new(throughput: deaths.last.to_f, present: customers_count.to_f)
        end
        births = (0...customers_count).map { |inside| (customers_count - inside).fdiv(think) }
        probabilities = birth_death(births, deaths)
        State.new(throughput: probabilities.drop(1).zip(deaths).sum { |probability, rate| probability * rate },
          present: probabilities.each_with_index.sum { |probability, inside| probability * inside })
      end

      # The same station with arrivals by chance, in groups whose sizes are geometric (Kleinrock I, ch. 4). The flow up
      # through the cut above n comes from each state k below it that a group of more than n - k takes across; that sum,
      # `reach`, follows from its predecessor. From the last rate on it is a geometric series.
      #
      # @param arrival_rate [Numeric] requests, not groups
      # @param rates [Array<Numeric>] as above
      # @param group_mean [Numeric] 1: single arrivals
      # @return [State, nil]
      def self.open_flow(arrival_rate, rates:, group_mean: 1)
        return if arrival_rate >= rates.last
        groups_rate = arrival_rate.fdiv(group_mean)
        more_ratio = 1 - 1.fdiv(group_mean)
        weights = [1.0]
        reach = 1.0
        rates.each do |rate|
          weights << reach * groups_rate / rate
          reach = more_ratio * reach + weights.last
        end
        step = groups_rate / rates.last
        State.new(throughput: arrival_rate.to_f, present: mean_present(weights, reach * step, more_ratio + step))
      end

      # @param next_weight [Float] of the first state beyond the list; each further one has `ratio` of its predecessor's
      def self.mean_present(weights, next_weight, ratio)
        tail = next_weight / (1 - ratio)
        inside = weights.each_with_index.sum { |weight, count| weight * count }
        (inside + tail * (weights.size + ratio / (1 - ratio))) / (weights.sum + tail)
      end
      private_class_method :mean_present
    end
  end
end
