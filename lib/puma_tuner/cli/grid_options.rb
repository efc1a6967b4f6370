# frozen_string_literal: true

require "etc"

module PumaTuner
  module CLI
    # Which topologies to predict, and what the advice must respect.
    module GridOptions
      def self.included(command)
        command.class_eval do
          option :threads, default: "1..8", desc: "threads per worker to predict"
          option :workers, default: "1..#{[Etc.nprocessors, 1].max}", desc: "workers to predict; 1 is a single process"
          option :max_memory, desc: "MiB that all processes may use together (PSS)"
          option :max_p99, desc: "milliseconds the 99th percentile may take"
        end
      end

      private

      # @return [Array<Topology>]
      def topologies_of(threads:, workers:, **)
        Parse.counts("--workers", workers).product(Parse.counts("--threads", threads)).map { |pair| Topology.from(*pair) }
      end

      # @return [PumaTuner::Advise::Constraints]
      def constraints_of(max_memory: nil, max_p99: nil, **)
        PumaTuner::Advise::Constraints.new(
          max_memory_bytes: max_memory && Parse.count("--max-memory", max_memory, 1..10_000_000) * Units::MIB,
          max_p99_ns: milliseconds_of("--max-p99", max_p99)
        )
      end

      # @return [Integer, nil] nanoseconds
      def milliseconds_of(option, text) = text && Parse.count(option, text, 1..1_000_000) * Units::NS_PER_MS
    end
  end
end
