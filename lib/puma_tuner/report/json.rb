# frozen_string_literal: true

module PumaTuner
  module Report
    # Every value of a document, as it is kept in files.
    class Json
      # @param value [Data]
      # @return [String]
      def call(value) = Document.dump(value)

      Report.register :json, self
    end
  end
end
