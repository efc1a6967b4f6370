# frozen_string_literal: true

module PumaTuner
  module Block
    # The stretch of repetitions that counts.
    module Counting
      module_function

      # @param repetition [Repetition]
      # @return [Hash{Symbol => Numeric, nil}] sums over the stretch; rss_bytes and pss_bytes at its end
      def call(repetition, duration_ns:)
        # It is called once without an iteration: at its first call Ruby allocates what it caches of the call.
        stretch(repetition, 0)
        stretch(repetition, duration_ns)
      end

      # Between the readings nothing of ours allocates an object, so that a block that allocates none is said to.
      def stretch(repetition, duration_ns)
        iterations_before = repetition.iterations_count
        machine_before = machine
        cpu_before_ns = Clock.cpu_ns
        gc_before_ns = gc_ns
        allocated_before = GC.stat(:total_allocated_objects)
        took_ns = repetition.for(duration_ns)
        allocated_count = GC.stat(:total_allocated_objects) - allocated_before
        gc_after_ns = gc_ns
        {
          allocated_count:, gc_ns: gc_after_ns && gc_after_ns - gc_before_ns, cpu_ns: Clock.cpu_ns - cpu_before_ns,
          duration_ns: took_ns,
          iterations_count: repetition.iterations_count - iterations_before, **Probe::Processes.memory("self"),
          **machine.to_h { |name, value| [name, value && machine_before[name] && value - machine_before[name]] }
        }
      end

      # @return [Hash{Symbol => Integer, nil}] what tells how much others were in the way
      def machine = {run_queue_wait_ns: Probe::Processes.run_queue_wait_sum_ns(["self"]), **Host::MachineLoad.read}

      def gc_ns = GC.respond_to?(:total_time) ? GC.total_time : nil
    end
  end
end
