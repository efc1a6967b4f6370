# frozen_string_literal: true

module PumaTuner
  module Prove
    # One of the things compared: the app at a topology. forecast: of the same, nil when none was made.
    Variant = Data.define(:name, :topology, :forecast)
  end
end
