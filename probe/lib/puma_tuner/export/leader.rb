# frozen_string_literal: true

module PumaTuner
  module Export
    # Finds the process that leads a Puma server, and the moment from which it does: a cluster's master when it looks after its
    # workers for the first time, a single process when its server starts. Reading a configuration alone, as `pumactl` does, is
    # neither, and must not make anybody listen.
    module Leader
      class << self
        # @yieldparam pid [Integer] of this process
        def at_start(&task)
          @task = task
          Probe::Puma.on_master_check { found(Process.pid) }
          Probe::Puma.on_server_start { found(Process.pid) unless Probe::Puma.worker }
        end

        private

        def found(pid)
          return if @pid == pid
          @pid = pid
          @task.call(pid)
        end
      end
    end
  end
end
