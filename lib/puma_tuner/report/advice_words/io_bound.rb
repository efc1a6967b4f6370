# frozen_string_literal: true

module PumaTuner
  module Report
    module AdviceWords
      # What Advise::Rules::IoBound says.
      IO_BOUND = {
        mark_io_bound: ->(endpoints:) { "Mark #{Figures.list(endpoints)} as I/O-bound" },
        deserves_mark: ->(endpoint:, ratio:, wait_ns:) {
          "#{endpoint} needs the GVL for #{Units.percent(ratio)} of its time and waits " \
            "for #{Units.duration(wait_ns)}: it deserves `puma.mark_as_io_bound`."
        },
        deserves_none: ->(endpoint:, ratio:, wait_ns:) {
          "#{endpoint} needs the GVL for #{Units.percent(ratio)} of its time: marked, it would only take it from " \
            "others."
        },
        leaky_puma: "Up to 8.0.2 Puma forgets to count threads that end as I/O threads, until the pool serves " \
          "nothing (puma/puma#3958).",
        mark_in_app: ->(leaky:) {
          "the lines below#{", with the first release after Puma 8.0.2; until then, more threads" if leaky}"
        },
        io_threads_cost: ->(threads_count:, workers_count:) {
          "up to #{Units.counted(threads_count, "thread")} more in each of " \
            "#{Units.counted(workers_count, "worker")}, with their memory and their connections"
        },
        no_io_threads: "max_io_threads 0"
      }.freeze
    end
  end
end
