# frozen_string_literal: true

module PumaTuner
  module Predict
    class WhatIf
      # Changes what Puma computes for each request: as the app's recording has it, for the closed forms, and as the
      # machine's calibration has it, which is simulated.
      module PumasOwn
        OF_MACHINE = %i[acceptor_cpu_ns reactor_wakeup_cpu_ns reactor_register_cpu_ns tail_cpu_ns].freeze

        # @param factor [Float]
        # @param workload [Model::Workload]
        # @param machine [Model::Machine]
        # @return [Array(Model::Workload, Model::Machine)]
        def self.times(factor, workload, machine)
          [workload.with(overhead_cpu_ns: (workload.overhead_cpu_ns * factor).round,
            tail_cpu_ns: workload.tail_cpu_ns && (workload.tail_cpu_ns * factor).round),
            machine.with(**OF_MACHINE.to_h { |name| [name, (machine.public_send(name) * factor).round] })]
        end
      end
    end
  end
end
