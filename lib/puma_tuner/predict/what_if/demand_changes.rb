# frozen_string_literal: true

module PumaTuner
  module Predict
    class WhatIf
      # Base of the changes to each recorded request of some endpoints, or of all.
      class DemandChange < Change
        SELECTS = true

        def call(workload, machine)
          selected = Selection.of(@expression, workload.endpoints, hint:)
          ensure_known(selected)
          names = selected.map(&:name)
          endpoints = workload.endpoints.map { |endpoint| names.include?(endpoint.name) ? changed(endpoint) : endpoint }
          [workload.with(endpoints: endpoints.freeze), machine]
        end

        private

        # @return [String, nil] what else a selector may name
        def hint = nil

        # @raise [UsageError] when there is nothing to change
        def ensure_known(endpoints) = nil

        # @param demand [Model::Demand]
        # @return [Model::Demand]
        def change(demand) = raise(InvariantError, "#{self.class} does not say what it changes")

        def changed(endpoint)
          demands = endpoint.demands.map { |demand| change(demand) }.freeze
          endpoint.with(demands:, mean_held_ns: mean(demands, &:held_ns), mean_wait_ns: mean(demands, &:wait_ns),
            mean_lock_ns: mean(demands, &:lock_ns), mean_gc_ns: endpoint.mean_gc_ns && mean(demands, &:gc_ns))
        end

        def mean(demands, &) = demands.sum(&).fdiv(demands.size).round
      end

      # `cpu(/articles)*0.7`, `cpu-5ms`: time with the GVL, garbage collection included.
      class Cpu < DemandChange
        EXAMPLES = {"*" => "*0.7", "-" => "-5ms", "+" => "+5ms"}.freeze

        private

        def prepare
          (operator == "*") ? @factor = @expression.factor(least: LEAST_FACTOR) : @shift_ns = @expression.shift_ns
        end

        def change(demand) = @factor ? Demands.scale_cpu(demand, @factor) : Demands.shift_cpu(demand, @shift_ns)
      end

      # `lock(/articles)-20ms`, `sleep=0`: waits of one kind. Requests without such a wait stay as they are.
      class Waits < DemandChange
        EXAMPLES = {"*" => "*0.5", "-" => "-20ms", "+" => "+20ms", "=" => "=0"}.freeze

        private

        def prepare
          return @shift_ns = @expression.shift_ns if %w[+ -].include?(operator)
          @factor = @expression.factor
          if operator == "=" && @factor.positive?
            @expression.refuse("write =0, or the change: #{target}*0.5 or #{target}-20ms")
          end
        end

        def ensure_known(endpoints)
          there = endpoints.flat_map(&:demands).flat_map(&:waited_kinds).uniq
          return if there.intersect?(kinds)
          @expression.refuse("no recorded request#{" of #{@expression.selector}" if @expression.selector} has a wait " \
            "of the kind #{kinds.first}; there is #{there.empty? ? "no wait at all" : there.sort.join(", ")}")
        end

        # @return [Array<String>] the waits that it is about
        def kinds = [target]

        def change(demand)
          @factor ? Demands.scale_waits(demand, kinds, @factor) : Demands.shift_waits(demand, kinds, @shift_ns)
        end
      end

      # `io-20ms`: all IO; `io(db)*0.5`, `io(http, /articles)+20ms`: what it was for, of all endpoints or of some.
      class Io < Waits
        # The kinds of waits by the names that people give them.
        KINDS = {**(Model::Demand::IO_KINDS - ["io"]).to_h { |kind| [kind, kind] }, "other" => "io"}.freeze

        # A kind, and an endpoint after it.
        SELECTOR = /\A(?<kind>#{Regexp.union(KINDS.keys)})(?:\s*,\s*(?<endpoint>.+))?\z/

        private

        def prepare
          super
          named = SELECTOR.match(@expression.selector.to_s) or return
          @kind = KINDS.fetch(named[:kind])
          @expression = @expression.with(selector: named[:endpoint])
        end

        def kinds = @kind ? [@kind] : KINDS.values.rotate(-1)

        def hint = ("; kinds of io are #{KINDS.keys.join(", ")}" unless @kind)
      end

      # `without releases file`: system calls that come back at once, and let go of the GVL all the same, of one kind or
      # of all. What buffered writes, or a cache of small files, save.
      class WithoutReleases < DemandChange
        EXAMPLES = {"releases" => " releases file"}.freeze
        SELECTS = false
        KINDS = {**Io::KINDS, "all" => nil}.freeze

        def remark
          "#{@expression.text}: IO of less than #{Units.duration(Model::Demand::SLEPT_NS)} at a time is taken not to " \
            "happen at all"
        end

        private

        def prepare
          KINDS.key?(@expression.operand) or
            @expression.refuse("write a kind of io after releases: #{KINDS.keys.join(", ")}")
        end

        def ensure_known(endpoints)
          return if endpoints.flat_map(&:demands).any? { |demand| change(demand) != demand }
          @expression.refuse("no recorded request has such a wait that is short")
        end

        def kinds = @kinds ||= [*KINDS.fetch(@expression.operand) || Model::Demand::IO_KINDS]

        def change(demand)
          Demands.without(demand) { |ns, kind| kinds.include?(kind) && ns < Model::Demand::SLEPT_NS }
        end
      end

      # `gc=0`, `gc(/articles)*0.5`, `gc-5ms`: garbage collection, and the CPU time it took.
      class Gc < DemandChange
        EXAMPLES = {"=" => "=0", "*" => "*0.5", "-" => "-5ms"}.freeze

        private

        def prepare
          return @shift_ns = @expression.shift_ns if operator == "-"
          @factor = @expression.factor
          @expression.refuse("write gc=0, or the change: gc*0.5 or gc-5ms") if operator == "=" && @factor.positive?
          if @factor > 1
            @expression.refuse("write a factor of at most 1: where more garbage collection would fall is not known")
          end
        end

        def ensure_known(endpoints)
          untimed = endpoints.reject { |endpoint| endpoint.demands.all?(&:gc_ns) }
          if untimed.any?
            @expression.refuse("the garbage collector was not timed in #{Selection.list(untimed.map(&:name))}")
          end
        end

        def change(demand)
          Demands.lessen_gc(demand, @factor ? (demand.gc_ns * @factor).round : [demand.gc_ns + @shift_ns, 0].max)
        end
      end

      # `yjit*1.2`: Ruby runs so much faster, in the app and in Puma.
      class Yjit < DemandChange
        EXAMPLES = {"*" => "*1.2"}.freeze
        SELECTS = false

        def call(workload, machine)
          changed, = super
          PumasOwn.times(1 / @factor, changed, machine)
        end

        def remark
          "#{@expression.text}: all endpoints are taken to gain alike, " \
            "garbage collection and native code without the GVL nothing; " \
            "measure the factor with `puma_tuner prove --factor yjit=off,on --primary cpu_per_request`"
        end

        private

        def prepare = @factor = @expression.factor(least: LEAST_FACTOR)

        def change(demand) = Demands.speed_up(demand, @factor)
      end
    end
  end
end
