# frozen_string_literal: true

module PumaTuner
  module Lab
    # One broken connection, or one server that does not start, should not cost hours; three in a row are no accident.
    module Again
      ATTEMPTS_COUNT = 3

      # @param run [Run] told of it
      # @yield may find that what it measured must not count, or that it could not
      # @return [Object] what the block returned
      # @raise [MeasurementFailed] when it found that each time
      def self.after_void(run)
        failures_count = 0
        begin
          yield
        rescue MeasurementFailed => void
          raise if (failures_count += 1) == ATTEMPTS_COUNT
          run.note("void, and once more: #{void.message}")
          retry
        end
      end
    end
  end
end
