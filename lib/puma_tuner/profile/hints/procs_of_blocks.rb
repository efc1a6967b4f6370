# frozen_string_literal: true

module PumaTuner
  module Profile
    module Hints
      # Blocks that are turned into objects: a method that names its block (`&block`) and uses it otherwise than by
      # `yield` or by handing it on makes a Proc at each call.
      #
      # Evidence: 100 Proc objects or more in one request, by allocations.
      class ProcsOfBlocks
        SHOWN_MAX = 4

        # @param costs [Costs]
        # @return [Hint, nil]
        def call(costs)
          sites = costs.allocations.select { |site| site.class_name == "Proc" }
          count = costs.per_work(sites.sum { |site| site.objects_count.to_i })
          return unless count && count >= Counts::LEAST_PER_WORK
          makers = sites.first(SHOWN_MAX).map do |site|
            "#{site.path}:#{site.line} (#{costs.per_work(site.objects_count).round})"
          end
          Hint.new(rule: "procs_of_blocks",
            title: "#{count.round} blocks are made into Proc objects in one #{costs.work_noun}", share_ratio: nil,
            evidence: "By #{makers.join(", ")}.",
            cure: "Use `yield` and `block_given?`, or hand the block on (`&` without a name), " \
              "where `&block` is not kept.",
            proof: "puma_tuner prove --block FILE: allocations_per_iteration, then cpu_per_iteration")
        end
      end
    end
  end
end
