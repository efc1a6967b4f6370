# frozen_string_literal: true

module PumaTuner
  module Report
    module AdviceWords
      PUMA_FAULTS = {
        3958 => {
          title: "forgets threads that ended as I/O threads",
          fault: "with max_io_threads, a thread that was marked and ends stays counted, until none is left to serve",
          cure: "no I/O threads until the first release after 8.0.2, which counts them (puma/puma#3968)",
          cost: "requests that wait for IO take a thread again"
        },
        3961 => {
          title: "gives requests to busy workers",
          fault: "a worker accepts while its only thread serves, though others are idle; Puma 6 did not",
          cure: "Puma 6.6; or two threads in each worker; or, behind a proxy that buffers and with the first release " \
            "after 8.0.2, `queue_requests false`, with which a worker accepts only while it is free (puma/puma#3969)",
          cost: "an older Puma, whose hooks have other names and which preloads only where `preload_app!` is " \
            "written; or connections that are not kept"
        },
        3487 => {
          title: "serves kept connections before those that wait",
          fault: "up to Puma 6 a thread goes on with the same connection ten times while others wait",
          cure: "Puma 8, which serves them in turns",
          cost: "an upgrade: Puma 7 renamed hooks, and preloads by default"
        }
      }.freeze
      private_constant :PUMA_FAULTS

      # What Advise::Rules::PumaVersion says.
      PUMA_VERSION = {
        puma_has_fault: ->(version:, issue:) {
          "Puma #{version} #{PUMA_FAULTS.dig(issue, :title)} (puma/puma##{issue})"
        },
        fault: ->(issue:, threads_count:) {
          "Today's settings meet it (#{Units.counted(threads_count, "thread")}): #{PUMA_FAULTS.dig(issue, :fault)}."
        },
        cure_of_fault: ->(issue:) { PUMA_FAULTS.dig(issue, :cure) },
        cost_of_cure: ->(issue:) { PUMA_FAULTS.dig(issue, :cost) },
        old_puma: ->(version:) { "Puma #{version} again, and its settings" }
      }.freeze
    end
  end
end
