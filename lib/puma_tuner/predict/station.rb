# frozen_string_literal: true

module PumaTuner
  module Predict
    # Waits of one kind that queue for so many servers, such as the connections to a database.
    #
    # kind: one of KINDS
    Station = Data.define(:kind, :servers_count) do
      # "io" is IO of which it is not known what it was for. What computes queues for cores.
      others = Probe::Parts::WAITS - Model::Demand::IO_KINDS - ["compute"]
      const_set(:KINDS, [*Model::Demand::IO_KINDS.rotate, *others].freeze)
    end
  end
end
