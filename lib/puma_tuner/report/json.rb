# frozen_string_literal: true

module PumaTuner
  module Report
    # The value itself, as it stands in a file: every digit, nothing left out, to be read by programs.
    # The formats are described by the values' own comments and in docs/formats.
    class Json
      KINDS = %i[observation workload machine sweep advice_list verdict tuning load_outcome profile profile_diff tradeoff fleet].freeze

      # @return [String]
      def call(value) = Document.dump(value)
    end
  end
end
