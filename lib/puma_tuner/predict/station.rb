# frozen_string_literal: true

module PumaTuner
  module Predict
    # Waits of one kind that queue for so many servers, such as the connections to a database.
    #
    # kind: one of KINDS
    Station = Data.define(:kind, :servers_count) do
      # "io" is IO of which it is not known what it was for.
      const_set(:KINDS, %w[db redis http file io lock sleep pool].freeze)
    end
  end
end
