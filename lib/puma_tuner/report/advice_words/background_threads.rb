# frozen_string_literal: true

module PumaTuner
  module Report
    module AdviceWords
      # What Advise::Rules::BackgroundThreads says.
      BACKGROUND_THREADS = {
        thread_takes_gvl: ->(thread:) { "The thread #{thread} takes the GVL from requests" },
        core_of_thread: ->(thread:, ratio:, burst_ns:) {
          "#{thread} has the GVL of its process for #{Units.percent(ratio)} of the time, " \
            "#{Units.duration(burst_ns)} at a stretch in the mean."
        },
        blame_of_thread: ->(thread:, ratio:) {
          "#{Units.percent(ratio)} of what requests waited for the GVL was its doing."
        },
        other_process: ->(known:) {
          case known
          when "solid_queue"
            "Solid Queue's jobs in processes of their own: `bin/jobs`, or the mode :fork of Puma's plugin instead of " \
              ":async"
          when "cable" then "cables in a server of their own (a Puma with `ActionCable.server`, or AnyCable)"
          when "jobs" then "jobs in a process of their own, and none in Puma"
          else "its work in a process of its own, or less often"
          end
        },
        process_of_its_own: "a process more, with its memory",
        thread_back: "the thread back in Puma"
      }.freeze
    end
  end
end
