# frozen_string_literal: true

# Load generators that are other people's programs, to hold our own beside them. What the figures of each are worth stands on
# top of its file.
module OtherGenerators
  Load = PumaTuner::Load
  private_constant :Load

  autoload :H2load, "#{__dir__}/other_generators/h2load"
  autoload :Hey, "#{__dir__}/other_generators/hey"
  autoload :Program, "#{__dir__}/other_generators/program"
  autoload :Wrk, "#{__dir__}/other_generators/wrk"
  autoload :WrkCorrection, "#{__dir__}/other_generators/wrk_correction"
  autoload :WrkScript, "#{__dir__}/other_generators/wrk_script"
end
