# frozen_string_literal: true

require "etc"

module PumaTuner
  module CLI
    # Which topologies to predict.
    module GridOptions
      WORKERS = "1..#{[Etc.nprocessors, 1].max}"

      def self.included(command)
        command.class_eval do
          option :threads, default: "1..8", desc: "threads per worker to predict"
          option :workers, default: WORKERS, desc: "workers to predict; 1 is a single process"
        end
      end

      private

      # @return [Array<Topology>]
      def topologies_of(threads:, workers:, **)
        Parse.counts("--workers", workers).product(Parse.counts("--threads", threads)).map { |pair| Topology.from(*pair) }
      end
    end
  end
end
