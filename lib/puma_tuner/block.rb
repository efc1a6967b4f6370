# frozen_string_literal: true

module PumaTuner
  # A block of Ruby in the place of an app: repeated in a fresh process, to be measured against another (prove) or
  # looked into (profile).
  #
  # user_file is the user's file of blocks.
  # The command's side: child_process starts one and hears its reports, ending is what became of it.
  # The child's side, from program on: it loads what the user's gems are, and nothing else that is a gem, not even json.
  module Block
    autoload :Child, "puma_tuner/block/child"
    autoload :ChildProcess, "puma_tuner/block/child_process"
    autoload :Counting, "puma_tuner/block/counting"
    autoload :Declarations, "puma_tuner/block/declarations"
    autoload :Ending, "puma_tuner/block/ending"
    autoload :Repetition, "puma_tuner/block/repetition"
    autoload :Settling, "puma_tuner/block/settling"
    autoload :Steadiness, "puma_tuner/block/steadiness"
    autoload :UserFile, "puma_tuner/block/user_file"
  end
end
