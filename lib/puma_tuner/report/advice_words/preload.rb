# frozen_string_literal: true

module PumaTuner
  module Report
    module AdviceWords
      # What Advise::Rules::Preload says.
      PRELOAD = {
        not_preloaded: "Each worker loads the app by itself, and shares none of its memory",
        own_memory: ->(pss_bytes:, workers_count:) {
          "Puma's preload_app is off; each of #{workers_count} workers has #{Units.mebibytes(pss_bytes)} of its own " \
            "(mean PSS)."
        },
        preload: "load the app once, before workers are forked",
        fork_order: ->(active_record:) {
          "no phased restart; threads, sockets and files that the app opens while it is loaded must be opened again " \
            "in each worker#{" (Active Record's connections are, by itself)" if active_record}"
        },
        preload_off: "preload_app! false"
      }.freeze
    end
  end
end
