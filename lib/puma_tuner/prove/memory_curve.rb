# frozen_string_literal: true

module PumaTuner
  module Prove
    # A server's memory over the requests it has served. Sampled from outside, beside the load.
    class MemoryCurve
      # Adding up a process's pages holds its memory lock for a moment, so it is not done too often.
      INTERVAL_S = 0.5

      # @param server [Host::ServerProcess]
      def initialize(server)
        @server = server
        @served_count = 0
        @points = []
        add(sample, 0)
      end

      # @return [Array<Array(Integer, Integer, Integer)>] requests served, PSS and RSS in bytes
      attr_reader :points

      # Samples while the block sends load.
      # @yieldreturn [Load::Outcome]
      def during
        samples = []
        began_s = Clock.now_s
        sampler = Thread.new { loop { sleep(INTERVAL_S) && samples << [Clock.now_s - began_s, sample] } }
        outcome = yield
        sampler.kill.join
        add_samples(samples, outcome)
        outcome
      ensure
        sampler&.kill
      end

      private

      # Served evenly over the time of the load: what is known of it.
      def add_samples(samples, outcome)
        sending_s = outcome.sending_ns.fdiv(Units::NS_PER_S)
        samples.each do |at_s, memory|
          add(memory, @served_count + (outcome.in_time_count * [at_s / sending_s, 1].min).round)
        end
        @served_count += outcome.requests_count
        add(sample, @served_count)
      end

      def add(memory, served_count)
        @points << [served_count, *memory] if memory
      end

      def sample
        memories = @server.pids.map { |pid| Probe::Processes.memory(pid) }
        sums = %i[pss_bytes rss_bytes].map { |name| memories.map { |memory| memory[name] } }
        sums.map(&:sum) unless sums.flatten.include?(nil)
      end
    end
  end
end
