# frozen_string_literal: true

module PumaTuner
  module Advise
    module Rules
      # Names threads in the serving processes that serve no requests and take the GVL: jobs, cables, reporters.
      #
      # Evidence: how long each had the GVL, and how much of the requests' wait for it was its doing. Threshold: a
      # twentieth of a core in each process, a judgement: the smallest forecast gain that a setting is recommended for
      # is two of a hundred. Effect: forecast without the thread. Cost: a process of its own. Undo: the thread back.
      class BackgroundThreads < Rule
        PRIORITY = 55

        LEAST_CORE_RATIO = 0.05

        # Of threads of our own, such as the console's, which the app can't move.
        OWN = "puma_tuner"

        # By the beginning of a thread's name: what to set.
        KNOWN = {"actioncable" => :cable, "goodjob" => :jobs, "sidekiq" => :jobs}.freeze

        # Solid Queue's processes, where its mode :async makes threads of them: named by what they do and a random
        # number, "worker-8c1f…" (its processes/base.rb), of which the probe has each run of digits as "#".
        SOLID_QUEUE = /\A(worker|dispatcher|scheduler|supervisor\(\w+\))-[\h#]{2,}\z/

        # Its jobs run in a pool of concurrent-ruby without a name, as any other such pool's do.
        NAMELESS_POOL = "worker-#"

        # Puma knows it where the plugin is loaded, which often hangs on a variable.
        FORK = "solid_queue_mode :fork if respond_to?(:solid_queue_mode)"

        def call
          workload.background.filter_map do |thread|
            core_ratio = [thread.cores, 1.0].min # they share one GVL
            advised(thread, core_ratio) if core_ratio >= LEAST_CORE_RATIO && !thread.name.start_with?(OWN)
          end
        end

        private

        def advised(thread, core_ratio)
          advice(title: say(:thread_takes_gvl, thread: thread.name), evidence: evidence(thread, core_ratio),
            effect: @situation.effect(what_if: ["without thread #{thread.name}"]),
            change: say(:other_process, known: known(thread)&.name), lines: lines(thread),
            cost: say(:process_of_its_own), undo: say(:thread_back))
        end

        def evidence(thread, core_ratio)
          [say(:core_of_thread, thread: thread.name, ratio: core_ratio, burst_ns: thread.burst_ns),
            *(say(:blame_of_thread, thread: thread.name, ratio: blame_ratio(thread)) if blame_ratio(thread))]
        end

        # Of the requests' wait for the GVL.
        def blame_ratio(thread)
          blames = observation&.endpoints.to_a.flat_map(&:blame)
          total_ns = blames.sum(&:wait_ns)
          return unless total_ns.positive?
          blames.select { |blame| blame.kind == "thread" && blame.holder == thread.name }.sum(&:wait_ns).fdiv(total_ns)
        end

        def known(thread)
          return :solid_queue if of_solid_queue?(thread.name)
          name = thread.name.downcase.delete("^a-z")
          KNOWN.find { |beginning, _| name.start_with?(beginning) }&.last
        end

        def of_solid_queue?(name)
          return false unless @situation.gem("solid_queue")
          name.match?(SOLID_QUEUE) || (name == NAMELESS_POOL && names.any?(SOLID_QUEUE))
        end

        # Of all threads, also of those that do next to nothing.
        def names = [*workload.background, *observation&.background].map(&:name)

        def lines(thread) = (known(thread) == :solid_queue) ? {PUMA_RB => FORK} : {}
      end
    end
  end
end
