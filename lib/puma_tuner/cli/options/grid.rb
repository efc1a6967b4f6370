# frozen_string_literal: true

module PumaTuner
  module CLI
    module Options
      Grid = Options.group(:threads, :workers)

      # The options that say which topologies to predict.
      class Grid
        # @param cores_count [Integer] that the server may use
        # @param quota_cores [Float, nil] that a control group pays for
        # @return [Range] of numbers of workers: more have no core to compute on
        def self.workers(cores_count, quota_cores) = 1..[cores_count, quota_cores&.ceil].compact.min.clamp(1..)

        # @param cores_count [Integer, nil] that it is taken to have, nil: those it has
        # @return [Range] of numbers of workers, on this machine
        def self.workers_here(cores_count = nil)
          here = Probe::MachineFacts.read
          workers(cores_count || here.cores_count, here.cpu_quota_cores)
        end

        # @param usual [Range] numbers of workers where none were asked for
        # @return [Array<Topology>]
        def topologies(usual) = (workers || usual.to_a).product(threads).map { |pair| Topology.from(*pair) }
      end
    end
  end
end
