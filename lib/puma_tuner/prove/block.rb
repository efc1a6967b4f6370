# frozen_string_literal: true

module PumaTuner
  module Prove
    # Experiments inside one process: a block of Ruby, repeated, in a fresh process per trial.
    #
    # The command's side: child_process starts one and hears its reports, ending is what became of it.
    # The child's side, from program on: it loads what the user's gems are, and nothing else that is a gem, not even json.
    module Block
      autoload :Child, "puma_tuner/prove/block/child"
      autoload :ChildProcess, "puma_tuner/prove/block/child_process"
      autoload :Counting, "puma_tuner/prove/block/counting"
      autoload :Declarations, "puma_tuner/prove/block/declarations"
      autoload :Ending, "puma_tuner/prove/block/ending"
      autoload :Failure, "puma_tuner/prove/block/failure"
      autoload :Repetition, "puma_tuner/prove/block/repetition"
      autoload :Settling, "puma_tuner/prove/block/settling"
      autoload :Steadiness, "puma_tuner/prove/block/steadiness"
    end
  end
end
