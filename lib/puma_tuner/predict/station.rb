# frozen_string_literal: true

module PumaTuner
  module Predict
    # Waits of one kind that queue for so many servers, such as the connections to a database.
    #
    # kind: "io", "lock", "sleep" or "pool"
    Station = Data.define(:kind, :servers_count)
  end
end
