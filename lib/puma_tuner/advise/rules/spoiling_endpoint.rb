# frozen_string_literal: true

module PumaTuner
  module Advise
    module Rules
      # Names the endpoint for whose GVL all others wait: a few long requests spoil the many short ones beside them.
      #
      # Evidence: who held the GVL while requests of other endpoints waited for it, as the probe saw it. Threshold: the
      # others wait for the GVL for a fifth of their time, and one endpoint with at most a quarter of the requests is to
      # blame for half of that; judgements. Effect: none, as a forecast without the endpoint compares other requests;
      # what the others would wait for the GVL is told. Cost: a group of servers of its own, or work. Undo: the route.
      class SpoilingEndpoint < Rule
        PRIORITY = 65

        LEAST_WAIT_RATIO = 0.2
        MOST_WEIGHT_RATIO = 0.25
        LEAST_BLAME_RATIO = 0.5

        def call
          return [] if observation.nil? || observation.endpoints.size < 2
          spoiler = observation.endpoints.find { |endpoint| spoils?(endpoint) } or return []
          others = others(spoiler)
          [remark(title: say(:spoils_others, endpoint: spoiler.name), evidence: evidence(spoiler, others),
            change: say(:move_endpoint, endpoint: spoiler.name,
              short_slices: LongBursts.new(@situation).short_slices?), cost: say(:own_group), undo: say(:route_back))]
        end

        private

        def others(spoiler) = observation.endpoints - [spoiler]

        def spoils?(spoiler)
          others = others(spoiler)
          wait_ns = gvl_wait_ns(others)
          wait_ns.positive? && spoiler.requests_count <= MOST_WEIGHT_RATIO * observation.requests_count &&
            wait_ns >= LEAST_WAIT_RATIO * others.sum { |one| one.budget.wall_ns - one.budget.queue_ns.to_i } &&
            blame_ns(spoiler, others) >= LEAST_BLAME_RATIO * wait_ns
        end

        def gvl_wait_ns(endpoints) = endpoints.sum { |endpoint| endpoint.budget.gvl_wait_ns.to_i }

        def blame_ns(spoiler, others)
          others.sum do |endpoint|
            endpoint.blame.select { |blame| blame.kind == "request" && blame.holder == spoiler.name }.sum(&:wait_ns)
          end
        end

        def evidence(spoiler, others)
          count = others.sum(&:requests_count)
          alone = @situation.alternative(what_if: ["weight(#{spoiler.name})*0"])
          [say(:others_wait_for_gvl, wait_ns: gvl_wait_ns(others).fdiv(count), requests_count: count,
            ratio: blame_ns(spoiler, others).fdiv(gvl_wait_ns(others)), endpoint: spoiler.name),
            say(:spoilers_share, endpoint: spoiler.name, ratio: spoiler.requests_count.fdiv(observation.requests_count),
              cpu_ns: spoiler.budget.on_core_ns.to_i.fdiv(spoiler.requests_count)),
            *(say(:gvl_wait_without, endpoint: spoiler.name, wait_ns: alone.gvl_wait_ns) if alone&.steady?)]
        end
      end
    end
  end
end
