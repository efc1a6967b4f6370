# frozen_string_literal: true

module PumaTuner
  module Predict
    class WhatIf
      # Changes to one recorded request. The order of its bursts and waits stays, and so does their number, but for
      # `without`: a wait of no time still lets go of the GVL.
      module Demands
        module_function

        # @param demand [Model::Demand]
        # @return [Model::Demand] with its CPU time, garbage collection included, times the factor
        def scale_cpu(demand, factor)
          demand.with(bursts_ns: scaled(demand.bursts_ns, factor), gc_ns: demand.gc_ns && (demand.gc_ns * factor).floor)
        end

        # @param shift_ns [Integer] below 0 to take away, from the longest burst first
        def shift_cpu(demand, shift_ns)
          bursts_ns = shifted(demand.bursts_ns, shift_ns)
          demand.with(bursts_ns:, gc_ns: demand.gc_ns&.clamp(0, bursts_ns.sum))
        end

        # @param kinds [Array<String>] of the waits
        def scale_waits(demand, kinds, factor)
          demand.with(waits_ns: demand.waits_ns.zip(demand.wait_kinds)
            .map { |ns, kind| kinds.include?(kind) ? (ns * factor).round : ns }.freeze)
        end

        # @param shift_ns [Integer] below 0 to take away, from the longest wait of those kinds first
        def shift_waits(demand, kinds, shift_ns)
          places = demand.wait_kinds.each_index.select { |index| kinds.include?(demand.wait_kinds[index]) }
          demand.with(waits_ns: shifted(demand.waits_ns, shift_ns, places))
        end

        # @param gc_ns [Integer] what is to be left of it
        def lessen_gc(demand, gc_ns)
          demand.with(bursts_ns: shifted(demand.bursts_ns, gc_ns - demand.gc_ns), gc_ns:)
        end

        # @param factor [Float] by which all CPU time but garbage collection is divided
        def speed_up(demand, factor)
          # Where garbage collection is not known, all time counts as the code's.
          code_ns = shifted(demand.bursts_ns, -demand.gc_ns.to_i)
          demand.with(bursts_ns: demand.bursts_ns.zip(code_ns)
            .map { |all_ns, ns| all_ns - ns + (ns / factor).round }.freeze)
        end

        # @yieldparam ns [Integer] of a wait, or the index of a lock
        # @yieldparam kind [String]
        # @yieldreturn [Boolean] whether it is gone: then its thread keeps the GVL there
        def without(demand)
          gone = demand.waits_ns.zip(demand.wait_kinds).map { |ns, kind| yield(ns, kind) }
          return demand if gone.none?
          bursts_ns = [demand.bursts_ns.first]
          demand.bursts_ns.drop(1).zip(gone) { |ns, merged| merged ? bursts_ns[-1] += ns : bursts_ns << ns }
          left = gone.each_index.reject { |index| gone[index] }
          demand.with(bursts_ns: bursts_ns.freeze, waits_ns: demand.waits_ns.values_at(*left).freeze,
            wait_kinds: demand.wait_kinds.values_at(*left).freeze)
        end

        def scaled(list_ns, factor) = list_ns.map { |ns| (ns * factor).round }.freeze

        # The recording does not say which burst held the garbage collection; the longest is the likeliest.
        #
        # @param places [Enumerable<Integer>] indexes of those that may change
        # @return [Array<Integer>] none below 0
        def shifted(list_ns, shift_ns, places = list_ns.each_index)
          list_ns = list_ns.dup
          left_ns = shift_ns
          Model::Demand.longest_first(list_ns, places).each do |place|
            part_ns = [left_ns, -list_ns[place]].max
            list_ns[place] += part_ns
            left_ns -= part_ns
          end
          list_ns.freeze
        end
      end
    end
  end
end
