# frozen_string_literal: true

module PumaTuner
  module Probe
    # Reads what a Ruby process tells of its own heap and compiler, since it began. It runs inside the process, and
    # needs no gem.
    module Gauges
      module_function

      # @return [Hash{Symbol => Integer, nil}] allocated_count: objects; gc_ns, gc_count; heap_pages_count; live_count:
      #   slots of the heap that hold an object, garbage included; compiled_count: methods and blocks that YJIT has
      #   compiled, invalidated_count: pieces of code that it has thrown away, as what they rested on has changed;
      #   code_bytes: machine code, compiler_bytes: what YJIT keeps beside it, yjit_bytes: both; compile_ns: its time
      def read
        {
          allocated_count: GC.stat(:total_allocated_objects), gc_ns: GC.respond_to?(:total_time) ? GC.total_time : nil,
          gc_count: GC.count,
          heap_pages_count: GC.stat(:heap_allocated_pages), live_count: GC.stat(:heap_live_slots), **yjit
        }
      end

      def yjit
        stats = (defined?(RubyVM::YJIT) && RubyVM::YJIT.enabled?) ? RubyVM::YJIT.runtime_stats : {}
        code_bytes = stats[:code_region_size]
        compiler_bytes = stats[:yjit_alloc_size]
        {compiled_count: stats[:compiled_iseq_count], invalidated_count: stats[:invalidation_count],
         compile_ns: stats[:compile_time_ns], code_bytes:, compiler_bytes:,
         yjit_bytes: code_bytes && code_bytes + compiler_bytes.to_i}
      end
    end
  end
end
