# frozen_string_literal: true

module PumaTuner
  module Advise
    module Rules
      # Workers that each load the app by themselves share none of its memory, and take as long to boot as the first.
      #
      # Evidence: Puma's option, and the memory that workers were seen to have of their own. Threshold: a cluster of two
      # and more whose app is not preloaded. Source: Puma 7 preloads where nothing else is said; "more processes reduce
      # memory per process, because of copy-on-write" (its page on deployment). Effect: none on speed; `prove` measures
      # memory. Cost: no phased restart; what the app opens before the fork (sockets, threads, files) is to be opened
      # again in the worker's boot hook. Undo: the line gone.
      class Preload < Rule
        PRIORITY = 30

        def call
          return [] unless @situation.cluster? && @situation.topology.workers_count > 1
          return [] unless @situation.setting(:puma, "preload_app") == "false"
          return [] if @situation.setting(:puma, "fork_worker")
          [remark(title: say(:not_preloaded), evidence: [memory], change: say(:preload),
            lines: {PUMA_RB => lines}, factors: {"puma.preload_app" => "true"}, cost: say(:fork_order,
              active_record: !@situation.gem("activerecord").nil?), undo: say(:preload_off))]
        end

        private

        def workers = observation.processes.select { |process| process.role == "worker" }

        def memory
          pss = workers.filter_map(&:pss_bytes)
          say(:own_memory, pss_bytes: pss.sum / pss.size, workers_count: workers.size) if pss.any?
        end

        def lines
          "preload_app!\n#{@situation.boot_hook} { } # open here again what the app opened while it was loaded"
        end
      end
    end
  end
end
