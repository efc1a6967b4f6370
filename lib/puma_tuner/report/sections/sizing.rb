# frozen_string_literal: true

module PumaTuner
  module Report
    module Sections
      # The cheapest setting that meets the goals, what it bears, how many machines that takes, and what it would cost
      # to be safe against the loss of a worker; or what comes nearest.
      class Sizing < Base
        # @param contents [Contents] with a list of advice that has a sizing
        def initialize(contents)
          @sizing = contents.advice_list.sizing
        end

        # @return [Blocks::Section]
        def section
          rows = {"goal" => goal, **(@sizing.met? ? met : unmet)}
          Section.new(id: "sizing", title: "What the goal takes", blocks: [Labelled.new(rows, style: :list)])
        end

        private

        def goal = "#{GoalWords.goals(@sizing.goals)}, with #{@sizing.arrivals}"

        def met
          {"cheapest" => cheapest, "meets it" => latencies(@sizing.forecast), "machines" => machines,
           "bears" => bears, "one worker less" => spare}
        end

        def cheapest
          cores = ", #{Figures.cores(@sizing.forecast.cores_used)} cores busy" if @sizing.forecast.cores_used
          "#{@sizing.forecast.topology}: #{memory(@sizing.forecast.memory_bytes)}#{cores}"
        end

        def memory(bytes) = bytes ? "#{Units.mebibytes(bytes)} of memory" : "memory unknown"

        def latencies(forecast)
          [*@sizing.goals.map { |goal| "#{GoalWords.latency(goal, forecast.latency_of(goal))}." },
            "The margin is the interval's: its upper end meets the goal."]
        end

        def machines
          return "1" if @sizing.machines_count == 1
          "#{Figures.count(@sizing.machines_count)}, each with #{@sizing.forecast.scenario.arrivals}"
        end

        def bears
          rate_per_s = @sizing.capacity.rate_per_s or return "no load in an open loop, in which requests come by chance"
          breaking = @sizing.breaking
          each = ", on each machine" if @sizing.machines_count > 1
          sure = "#{Units.rate(rate_per_s)}/s with that margin#{each}."
          return [sure] unless breaking.failed_scenario
          [sure, "From #{Units.rate(breaking.failed_scenario.arrivals.rate_per_s)}/s on, " \
            "#{GoalWords.miss(breaking.miss)}."]
        end

        def spare
          spare = @sizing.spare
          unless spare
            return "No setting within the limits meets it with one worker less: only another machine is safe against " \
              "the loss of one."
          end
          if spare.topology == @sizing.forecast.topology
            return "#{spare.topology} meets it with one worker less, too: that costs nothing more."
          end
          "#{spare.topology} meets it with one worker less, too: #{more_memory(spare)}."
        end

        def more_memory(spare)
          bytes = [spare.memory_bytes, @sizing.forecast.memory_bytes]
          return "#{Units.mebibytes(bytes[0] - bytes[1])} more" unless bytes.include?(nil)
          workers_count = spare.topology.workers_count - @sizing.forecast.topology.workers_count
          return "#{Units.counted(workers_count, "worker")} more" if workers_count.positive?
          "#{Units.counted(spare.topology.slots_count - @sizing.forecast.topology.slots_count, "slot")} more"
        end

        def unmet
          nearest = @sizing.nearest
          unless @sizing.miss
            return {"nothing meets it" => "No setting predicted keeps to the limits; the one that takes least is " \
              "#{nearest.topology}, with #{memory(nearest.memory_bytes)}."}
          end
          {"nothing meets it" => "The nearest is #{nearest.topology}: with #{nearest.scenario.arrivals}, " \
            "#{GoalWords.miss(@sizing.miss)}#{why(nearest)}."}
        end

        # Where requests hardly meet, it is their own time that is too long.
        def why(nearest)
          return unless nearest.steady? && nearest.budget
          waits_ns = nearest.budget.queue_ns.to_f + nearest.gvl_wait_ns.value
          return "; they hardly wait for each other, so it is their own time" if waits_ns < nearest.mean_ns.value / 10
          "; it is limited by #{AdviceWords::LIMITS.fetch(nearest.bottleneck)}"
        end
      end
    end
  end
end
