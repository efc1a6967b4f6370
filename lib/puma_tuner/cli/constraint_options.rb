# frozen_string_literal: true

module PumaTuner
  module CLI
    # What a recommendation must respect.
    module ConstraintOptions
      def self.included(command)
        command.class_eval do
          option :max_memory, desc: "MiB that all processes may use together (PSS), default: the container's memory limit, where there is one"
          option :max_p99, desc: "milliseconds the 99th percentile may take"
        end
      end

      private

      # @return [PumaTuner::Advise::Constraints]
      def constraints_of(max_memory: nil, max_p99: nil, **)
        PumaTuner::Advise::Constraints.new(
          max_memory_bytes: max_memory && Parse.count("--max-memory", max_memory, 1..10_000_000) * Units::MIB,
          max_p99_ns: Parse.milliseconds("--max-p99", max_p99)
        )
      end
    end
  end
end
