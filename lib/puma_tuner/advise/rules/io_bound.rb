# frozen_string_literal: true

module PumaTuner
  module Advise
    module Rules
      # Says which endpoints deserve `puma.mark_as_io_bound`, and which don't: a marked request no longer counts as one
      # of the pool's threads, so that others are served while it waits.
      #
      # Evidence: the share of the GVL in each endpoint's recorded requests. Threshold: a tenth (the simulation marks by
      # the same, Predict::RecordedRequests); and there are others, as else more threads do the same. Effect: forecast
      # with as many I/O threads as there are threads. Cost: memory, and connections. Undo: the lines gone.
      class IoBound < Rule
        PRIORITY = 75

        MOST_HELD_RATIO = 0.1

        # Puma that has it, and the last release that forgets threads which end as I/O threads (puma/puma#3958).
        FIRST_PUMA = Gem::Version.new("8.0")
        LEAKY_PUMA = Gem::Version.new("8.0.2")
        NAMED_MAX = 5

        def call
          return [] unless able? && deserving.any? && others.any?
          effect = @situation.effect(io_threads_count: threads_count)
          return [] if effect.nil? || effect.longer_tail? || !(effect.gain? || effect.shorter_tail?)
          [advice(title: say(:mark_io_bound, endpoints: names(deserving)), evidence:, effect:,
            change: say(:mark_in_app, leaky: leaky?), lines:, cost: say(:io_threads_cost, threads_count:,
              workers_count: @situation.topology.workers_count), undo: say(:no_io_threads))]
        end

        private

        # Where some are marked already nobody knows which.
        def able?
          version = @situation.puma_version
          version && version >= FIRST_PUMA && [nil, "0"].include?(@situation.setting(:puma, "max_io_threads"))
        end

        def leaky? = @situation.puma_version <= LEAKY_PUMA

        def deserving = @deserving ||= parted.first.sort_by { |endpoint| -endpoint.weight_ratio }

        def others = parted.last

        def parted = @parted ||= workload.endpoints.partition { |endpoint| held_ratio(endpoint) < MOST_HELD_RATIO }

        def held_ratio(endpoint)
          total_ns = endpoint.mean_ns
          total_ns.zero? ? 1.0 : endpoint.mean_held_ns.fdiv(total_ns)
        end

        def names(endpoints) = endpoints.first(NAMED_MAX).map(&:name)

        def evidence
          # All that the forecast marks are named; of the others some tell enough.
          [*deserving.map { |endpoint| say(:deserves_mark, **facts(endpoint)) },
            *others.first(NAMED_MAX).map { |endpoint| say(:deserves_none, **facts(endpoint)) },
            *(say(:leaky_puma) if leaky?)]
        end

        def facts(endpoint)
          {endpoint: endpoint.name, ratio: held_ratio(endpoint), wait_ns: endpoint.mean_wait_ns}
        end

        # No factors, as the option by itself does nothing: an app that marks no request has no I/O thread.
        def lines
          {PUMA_RB => "max_io_threads #{threads_count}",
           "the endpoints named" => %(env["puma.mark_as_io_bound"]&.call # in Rails: request.env)}
        end
      end
    end
  end
end
