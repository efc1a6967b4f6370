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
end
