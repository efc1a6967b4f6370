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

      # `overhead*0.5`: what Puma computes for each request.
      class Overhead < Change
        EXAMPLES = {"*" => "*0.5"}.freeze

        def call(workload, machine) = PumasOwn.times(@factor, workload, machine)

        private

        def prepare = @factor = @expression.factor
      end

      # `cores=4`: the same machine with more cores, or fewer.
      class Cores < Change
        EXAMPLES = {"=" => "=4"}.freeze
        COUNTS = 1..256

        def call(workload, machine)
          [workload, machine.with(cores_count: @count, effective_cores: effective_cores(machine))]
        end

        def remark
          "#{@expression.text}: each core beyond those of the recorded machine is taken to add as much as each of " \
            "them does on average; a control group's quota stays as it was"
        end

        private

        def prepare = @count = @expression.count(COUNTS)

        # Cores beyond those that were measured count in proportion to what all measured ones do together: hyper-threads
        # already count as the parts of a core that they are.
        def effective_cores(machine)
          measured = machine.effective_cores.first(machine.cores_count)
          per_core = measured.last.fdiv(measured.size)
          (1..@count).map { |count| measured[count - 1] || count * per_core }.freeze
        end
      end

      # `without thread solid_queue`: background threads by name, by how their
      # names begin, or by a pattern such as `*queue*`.
      class WithoutThread < Change
        EXAMPLES = {"thread" => " thread solid_queue"}.freeze

        def call(workload, machine)
          gone = named(workload.background)
          if gone.empty?
            @expression.refuse("there is no thread #{name} among those that serve no requests; " \
              "#{known(workload.background)}")
          end
          [workload.with(background: (workload.background - gone).freeze), machine]
        end

        def remark = "#{@expression.text}: its work is assumed to be done on another machine, or not at all"

        private

        def name = @expression.operand

        # A name may be how another one begins, or hold a * of its own.
        def named(threads)
          exactly = threads.select { |thread| thread.name == name }
          return exactly unless exactly.empty?
          threads.select { |thread| thread.name.start_with?(name) || File.fnmatch?(name, thread.name) }
        end

        def known(threads)
          if threads.empty?
            "the recording has none that take the GVL"
          else
            "there is #{Selection.list(threads.map(&:name))}"
          end
        end
      end

      # `puma=7.2`, `ruby=3.4`: the rules of another version.
      class Version < Change
        EXAMPLES = {"=" => "=VERSION"}.freeze
        FORMAT = /\A\d+(\.\d+){1,3}\z/

        # The simulation knows the rules of these versions.
        KNOWN = {"puma" => [6, 8], "ruby" => [3, 4]}.freeze

        # The features of the recorded version tell nothing of another.
        def call(workload, machine)
          return [workload.with(puma_version: @expression.operand, puma_features: nil), machine] if target == "puma"
          [workload.with(ruby_version: @expression.operand), machine.with(gvl_rule: nil)]
        end

        def remark
          "#{@expression.text}: only the rules for handing over requests and the GVL change; " \
            "every request keeps the CPU time it was recorded with"
        end

        private

        def prepare
          least, most = KNOWN.fetch(target)
          return if FORMAT.match?(@expression.operand) && @expression.operand.to_i.between?(least, most)
          @expression.refuse("write a version from #{least}.0 to #{most}.x, such as #{target}=#{most}.0")
        end
      end
    end
  end
end
