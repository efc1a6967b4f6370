# frozen_string_literal: true

module PumaTuner
  module Profile
    module Readers
      # The sums that our adapter took from memory_profiler.
      class MemoryProfiler < Reader
        # memory_profiler gives this name to a place that Ruby does not know.
        NOWHERE = "(no name)"

        private

        def build(content)
          allocations = content.fetch("allocations").map { |row| allocation(*row) }
          Samples.new(**told(content), mode: content["mode"], unit: "objects", allocations:,
            samples_count: allocations.sum(&:objects_count))
        end

        def allocation(class_name, location, objects_count, bytes, retained_objects_count, retained_bytes)
          path, _, line = location.rpartition(":")
          known = path != NOWHERE
          line = known ? Integer(line, exception: false) : nil
          Allocation.new(class_name:, path: (path if known), line:, objects_count:, bytes:, retained_objects_count:,
            retained_bytes:)
        end
      end
    end
  end
end
