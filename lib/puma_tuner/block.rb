# frozen_string_literal: true

module PumaTuner
  # A block of Ruby in the place of an app: repeated in a fresh process, to be measured against another (prove) or
  # looked into (profile).
  #
  # user_file is the user's file of blocks.
  # The command's side: child_process starts one and hears its reports, ending is what became of it.
  # The child's side, from program on: it loads what the user's gems are, and nothing else that is a gem, not even json.
  module Block
    PumaTuner.autoload_folder(self, "#{__dir__}/block", program: [])
  end
end
