# frozen_string_literal: true

module PumaTuner
  # Statistics: pure functions and values, knowing nothing of requests, Puma or time.
  module Stats
    PumaTuner.autoload_folder(self, "#{__dir__}/stats")
  end
end
