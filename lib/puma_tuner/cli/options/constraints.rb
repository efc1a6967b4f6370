# frozen_string_literal: true

module PumaTuner
  module CLI
    module Options
      Constraints = Options.group(:max_memory, :max_p99)

      # What a recommendation must respect.
      class Constraints
        # @return [Advise::Constraints]
        def constraints
          Advise::Constraints.new(max_memory_bytes: max_memory && max_memory * Units::MIB, max_p99_ns: max_p99)
        end
      end
    end
  end
end
