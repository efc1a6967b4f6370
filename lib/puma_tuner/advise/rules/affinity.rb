# frozen_string_literal: true

module PumaTuner
  module Advise
    module Rules
      # Binds each worker to a core of its own. Threads of a worker that hand the GVL to each other then go on with the
      # same core and its caches, and no sleeping core has to be woken for each turn; and where requests come by
      # themselves, none is woken on a core that another worker is using.
      #
      # Evidence: how often a mean request gets the GVL after another thread. Threshold: a gain of 5% by the middle of
      # the forecast, a judgement: what is that cheap to prove need not be sure before. Source: calibration.md, what a
      # switch costs on one core and on two. Effect: forecast as `predict --affinity` does.
      # Cost: a worker can't use another core. It hurts where native code computes without the GVL and with more workers
      # than cores: then the rule is silent. It hurts also where neighbours bind to the same cores, which no recording
      # shows: the advice names that cost. Undo: the lines gone.
      class Affinity < Rule
        PRIORITY = 85

        # Of a request's time; native code that would compete with its own worker for the one core. A judgement.
        MOST_COMPUTE_RATIO = 0.05

        LEAST_GAIN_RATIO = 1.05

        def call
          return [] unless @situation.topology.threads_count > 1 && room? && !bound?
          return [] unless compute_ratio < MOST_COMPUTE_RATIO
          effect = @situation.effect(affinity: true) or return []
          return [] if effect.gain < LEAST_GAIN_RATIO || effect.longer_tail?
          [advice(title: say(:bind_workers), evidence:, effect:, change: say(:core_by_index), lines:,
            factors: {"affinity" => "on"}, cost: say(:no_other_core), undo: say(:lines_gone))]
        end

        private

        # A quota is no set of cores: every container on the machine would bind to the same first ones.
        def room?
          facts = @situation.machine
          @situation.cluster? && facts && workers_count <= facts.cores_count &&
            (facts.cpu_quota_cores.nil? || facts.cpu_quota_cores >= facts.cores_count)
        end

        # Some workers may use fewer cores than the machine has.
        def bound?
          cores = @situation.setting(:cores)
          !cores.nil? && !cores.match?(/[,-]/)
        end

        def compute_ratio = workload.mean_of { |endpoint| endpoint.mean_of(&:compute_ns) } / workload.mean_ns

        def evidence
          [*(say(:turns_of_request, releases_count:, threads_count:) if releases_count >= 1),
            *(say(:woken_anywhere, threads_count:) if @situation.open?),
            say(:cores_for_workers, workers_count:, cores_count: @situation.machine.cores_count)]
        end

        # How often a mean request lets go of the GVL.
        def releases_count = workload.mean_of { |endpoint| endpoint.mean_of(&:releases_count) }

        # Read in the master, as under fork_worker workers are forked from one that is bound. Cores that the machine
        # could have are allowed, too (see Probe::Processes.online_among). The same file may configure the app on its
        # author's Mac, where none of this is there. Alpine's taskset knows short options alone.
        def lines
          {PUMA_RB => <<~RUBY.chomp}
            if RUBY_PLATFORM.include?("linux")
              lists = [File.read("/proc/self/status")[/^Cpus_allowed_list:\\s*(\\S+)/, 1],
                File.read("/sys/devices/system/cpu/online")]
              allowed = lists.map { |list|
                list.split(",").flat_map do |span|
                  first, last = span.split("-").map { |core| Integer(core) }
                  [*first..(last || first)]
                end
              }.reduce(:&)
              #{@situation.boot_hook} do |index|
                core = allowed[index % allowed.size]
                system("taskset", "-a", "-c", "-p", core.to_s, Process.pid.to_s, out: File::NULL)
              end
            end
          RUBY
        end
      end
    end
  end
end
