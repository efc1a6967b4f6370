# frozen_string_literal: true

module PumaTuner
  module Report
    module AdviceWords
      # What Advise::Rules::Affinity says.
      AFFINITY = {
        bind_workers: "Bind each worker to a core of its own",
        turns_of_request: ->(releases_count:, threads_count:) {
          "A mean request lets go of the GVL #{releases_count.round(1)} times, and another of the " \
            "#{threads_count} threads may go on meanwhile, on another core."
        },
        woken_anywhere: ->(threads_count:) {
          "When a request comes, one of #{threads_count} threads is woken, on the core where it last ran, which " \
            "another worker may be using while a core is idle."
        },
        cores_for_workers: ->(workers_count:, cores_count:) {
          "#{Units.counted(workers_count, "worker")} on #{Units.counted(cores_count, "core")}."
        },
        core_by_index: "the lines below: as each worker boots, `taskset` binds it to the core of its index, among " \
          "those that the server may use",
        no_other_core: "a worker can't go on with another core while its own is taken by a neighbour; native code " \
          "that computes without the GVL shares the core with its worker",
        lines_gone: "the lines gone, and a restart"
      }.freeze

      # What Advise::Rules::CpuQuota says.
      CPU_QUOTA = {
        beyond_quota: ->(workers_count:, quota_cores:) {
          "#{workers_count} workers share a quota of #{Units.significant(quota_cores)} cores"
        },
        quota_of_group: ->(quota_cores:, cores_count:, workers_count:) {
          "The control group may use #{Units.significant(quota_cores)} of the machine's " \
            "#{Units.counted(cores_count, "core")}; when #{workers_count} workers have used that up, all stand still " \
            "for the rest of the period."
        },
        counted_by_auto: "WEB_CONCURRENCY is auto, which counted the machine's cores and not this quota.",
        workers_of_quota: ->(workers_count:) {
          (workers_count == 1) ? "a single process (no workers)" : "#{workers_count} workers, set as a number"
        },
        fewer_slots: "fewer requests under way, unless each worker gets more threads",
        workers_back: ->(workers_count:) { "#{workers_count} workers again" }
      }.freeze

      # What Advise::Rules::KeepAlive says.
      KEEP_ALIVE = {
        sticky_clients: "Clients that keep their connections keep one worker busier than the others",
        requests_of_workers: ->(counts:) { "The workers served #{Figures.list(counts.map(&:to_s))} requests." },
        end_connections: ->(count:) {
          "close a connection after #{count} requests, so that its next one finds another worker"
        },
        more_connections: "a connection to open every so many requests",
        keep_alive_back: "the line gone (Puma closes a connection after 999 requests)"
      }.freeze

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
