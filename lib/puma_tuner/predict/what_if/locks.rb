# frozen_string_literal: true

module PumaTuner
  module Predict
    class WhatIf
      # Base of the changes to locks and pools that were watched, by name, by how their names begin, or by a pattern.
      class LockChange < Change
        private

        # @return [Array<Integer>] places in the workload's locks
        # @raise [UsageError] when there is none such
        def places(workload, name)
          known = candidates(workload)
          exactly = known.select { |lock| lock.name == name }
          found = exactly.any? ? exactly : known.select { |lock| alike?(lock.name, name) }
          found.empty? and @expression.refuse("there is no #{noun} #{name} that was watched; " \
            "#{known.empty? ? "the recording has none" : "there is #{Selection.list(known.map(&:name))}"}")
          workload.locks.each_index.select { |index| found.include?(workload.locks[index]) }
        end

        def alike?(lock_name, name) = lock_name.start_with?(name) || File.fnmatch?(name, lock_name)

        def candidates(workload) = workload.locks

        def noun = "lock"
      end

      # `without lock Monitor at logger.rb*`: nobody takes it, and nobody waits for it.
      class WithoutLock < LockChange
        EXAMPLES = {"lock" => " lock NAME"}.freeze

        def call(workload, machine)
          gone = places(workload, @expression.operand)
          left = workload.locks.each_index.to_a - gone
          endpoints = workload.endpoints.map do |endpoint|
            endpoint.with(demands: endpoint.demands.map { |demand| without(demand, gone, left) }.freeze)
          end
          [workload.with(endpoints: endpoints.freeze, locks: workload.locks.values_at(*left).freeze), machine]
        end

        def remark = "#{@expression.text}: the work under the lock is assumed to stay the same"

        private

        # Those that are left move up.
        def without(demand, gone, left)
          demand = Demands.without(demand) { |index, kind| Probe::Parts::MARKERS.key?(kind) && gone.include?(index) }
          waits_ns = demand.waits_ns.zip(demand.wait_kinds).map do |number, kind|
            Probe::Parts::MARKERS.key?(kind) ? left.index(number) : number
          end
          demand.with(waits_ns: waits_ns.freeze)
        end
      end

      # `size(ActiveRecord*)=10`: a pool has so many places in each worker.
      class PoolSize < LockChange
        EXAMPLES = {"=" => "(ActiveRecord*)=10"}.freeze
        SELECTS = true
        COUNTS = 1..10_000

        def call(workload, machine)
          changed = places(workload, @expression.selector)
          locks = workload.locks.each_with_index.map do |lock, index|
            changed.include?(index) ? lock.with(servers_count: @count) : lock
          end
          [workload.with(locks: locks.freeze), machine]
        end

        def remark = "#{@expression.text}: what the pool leads to is taken to be as fast with more at a time"

        private

        def prepare
          @expression.selector or @expression.refuse("name the pool, such as size(ActiveRecord*)=10")
          @count = @expression.count(COUNTS)
        end

        def candidates(workload) = workload.locks.select { |lock| lock.kind.end_with?("pool") }

        def noun = "pool"
      end
    end
  end
end
