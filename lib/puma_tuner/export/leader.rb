# frozen_string_literal: true

require_relative "../host/puma_watch"

module PumaTuner
  module Export
    # Finds the process that leads a Puma server, and the moment from which it does: a cluster's master when it looks after its
    # workers for the first time, a single process when its server starts. Reading a configuration alone, as `pumactl` does, is
    # neither, and must not make anybody listen.
    module Leader
      # In the master's loop, between forks. The name is the same in Puma 6, 7 and 8.
      module Master
        def check_workers(...)
          Leader.found(Process.pid)
          super
        end
      end

      # Workers have servers of their own, and are told by their title.
      module Single
        def run(...)
          Leader.found(Process.pid) unless $0.include?("cluster worker")
          super
        end
      end

      class << self
        # @yieldparam pid [Integer] of this process
        def at_start(&task)
          @task = task
          Host::PumaWatch.on(:Cluster) { |cluster| cluster.prepend(Master) }
          Host::PumaWatch.on(:Server) { |server| server.prepend(Single) }
        end

        # @api private
        def found(pid)
          return if @pid == pid
          @pid = pid
          @task.call(pid)
        end
      end
    end
  end
end
