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
    end
  end
end
