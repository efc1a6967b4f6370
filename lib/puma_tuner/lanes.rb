# frozen_string_literal: true

module PumaTuner
  # What each thread of a server did when, for a short while: lanes, of several recordings side by side.
  #
  # It stands beside the stages: `measure --lanes` records them (Probe::Lane), a report draws them, and other programs
  # read them as a profile of Firefox's or as a trace of Perfetto's.
  module Lanes
    PumaTuner.autoload_folder(self, "#{__dir__}/lanes", comparison: %i[Comparison Recording Wait])
  end
end
