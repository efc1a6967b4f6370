# frozen_string_literal: true

module PumaTuner
  module CLI
    # Which topologies to predict.
    module GridOptions
      # @param cores_count [Integer] that the server may use
      # @param quota_cores [Float, nil] that a control group pays for
      # @return [Range] of numbers of workers: more have no core to compute on
      def self.workers(cores_count, quota_cores) = 1..[cores_count, quota_cores&.ceil].compact.min.clamp(1..)

      # @return [Range] of numbers of workers, on this machine
      def self.workers_here = Probe::MachineFacts.read.then { |here| workers(here.cores_count, here.cpu_quota_cores) }

      def self.included(command)
        command.class_eval do
          option :threads, default: "1..8", desc: "threads per worker to predict"
          option :workers, desc: "workers to predict, default: 1 to as many as the server has cores; 1 is a single process"
        end
      end

      private

      # @param usual [Range] numbers of workers where none were asked for
      # @return [Array<Topology>]
      def topologies_of(usual, threads:, workers: nil, **)
        (workers ? Parse.counts("--workers", workers) : usual.to_a).product(Parse.counts("--threads", threads)).map { |pair| Topology.from(*pair) }
      end
    end
  end
end
