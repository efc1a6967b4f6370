# frozen_string_literal: true

# What queueing theory knows exactly, computed another way than the program does.
module Oracles
  # Machines and repairmen: customers think for a while, then want one of the servers; the first to come is the first to be
  # served. Exact for exponential service and any thinking. By the balance of flows between neighbouring states.
  #
  # @return [Hash] throughput in the inverse of the times' unit, and the mean number of customers not thinking
  def self.repairmen(customers_count:, servers_count:, think:, service:)
    weights = (1..customers_count).each_with_object([1.0]) do |present, list|
      list << list.last * ((customers_count - present + 1) / think) / ([present, servers_count].min / service)
    end
    total = weights.sum
    {
      throughput: weights.each_with_index.sum { |weight, present| weight * [present, servers_count].min } / service / total,
      present: weights.each_with_index.sum { |weight, present| weight * present } / total
    }
  end

  # @return [Array<Float>] exponential samples whose mean is exactly the one asked for
  def self.exponential(count, mean, random)
    samples = Array.new(count) { -Math.log(1 - random.rand) }
    total = samples.sum
    samples.map { |sample| sample * mean * count / total }
  end

  # Single queues, after L. Kleinrock, Queueing Systems I (1975) and II (1976). "Wait" is theirs: from joining a queue to the beginning of service;
  # nil where there is no steady state.

  # M/M/1 (Kleinrock I, ch. 3).
  #
  # @return [Float, nil] mean latency
  def self.mm1_latency(arrival_rate, service:)
    service / (1 - arrival_rate * service.to_f) if arrival_rate * service < 1
  end

  # The latency of M/M/1, first come first served, is exponential.
  #
  # @param ratio [Float] 0.99: what 99% stay below
  # @return [Float, nil]
  def self.mm1_latency_quantile(ratio, arrival_rate, service:)
    mean = mm1_latency(arrival_rate, service:)
    mean && -Math.log(1 - ratio) * mean
  end

  # Erlang's B and C formulas (Kleinrock I, ch. 3), B by its recursion, whose numbers stay small.
  #
  # @param offered [Numeric] arrival rate x service time
  # @return [Float] probability to find all servers busy when those who do are turned away
  def self.erlang_b(servers_count, offered)
    (1..servers_count).reduce(1.0) { |blocked, count| offered * blocked / (count + offered * blocked) }
  end

  # @return [Float, nil] probability to have to wait when those who find all servers busy queue
  def self.erlang_c(servers_count, offered)
    return unless offered < servers_count
    blocked = erlang_b(servers_count, offered)
    blocked / (1 - offered.fdiv(servers_count) * (1 - blocked))
  end

  # M/M/c.
  #
  # @return [Float, nil] mean wait
  def self.mmc_wait(arrival_rate, service:, servers_count:)
    waits = erlang_c(servers_count, arrival_rate * service) or return
    waits / (servers_count.fdiv(service) - arrival_rate)
  end

  # Who waits at all in M/M/c, first come first served, waits an exponential time.
  #
  # @return [Float, nil]
  def self.mmc_wait_quantile(ratio, arrival_rate, service:, servers_count:)
    waits = erlang_c(servers_count, arrival_rate * service) or return
    return 0.0 if waits <= 1 - ratio
    Math.log(waits / (1 - ratio)) / (servers_count.fdiv(service) - arrival_rate)
  end

  # M/G/1 first come first served, by Pollaczek and Khinchine (Kleinrock I, ch. 5).
  #
  # Of the GVL it tells the convoys: with slices min(burst, time slice) as service and visits as arrivals, times the visits
  # of a request, it estimates the GVL wait when many connections come by chance. The rare 100 ms make the square.
  #
  # @param services [Array<Numeric>] samples of the service time
  # @return [Float, nil] mean wait
  def self.mg1_wait(arrival_rate, services:)
    busy_ratio = arrival_rate * services.sum.fdiv(services.size)
    return unless busy_ratio < 1
    arrival_rate * services.sum { |service| service**2 }.fdiv(services.size) / (2 * (1 - busy_ratio))
  end

  # M/G/1 with processor sharing (Kleinrock II, ch. 4): the distribution of the others' service does not matter.
  #
  # @param own [Numeric] service time of the one asked about
  # @return [Float, nil] its mean latency
  def self.mg1_ps_latency(arrival_rate, service:, own: service)
    own / (1 - arrival_rate * service.to_f) if arrival_rate * service < 1
  end
end
