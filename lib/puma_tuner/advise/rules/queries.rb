# frozen_string_literal: true

module PumaTuner
  module Advise
    module Rules
      # The database takes over half of an endpoint's time, in many round trips: one query for all of them (no N+1), or
      # an index. Where it takes over half of all requests' time, that comes before workers and threads; and once it is
      # there, fewer threads do.
      #
      # Evidence: round trips to the database in recorded requests, by what waited (the client's own class), and their
      # time; and, of Active Record, how often a request makes the same query, by its name: SQLite answers in the
      # process and has no round trips. Threshold: half of an endpoint's time, where queries can bring more than
      # everything else together, in ten round trips; or ten queries of one name; judgements. Effect: forecast with as
      # much time for the database as two of its round trips take. Cost: work on the code. Undo: the code as it was.
      class Queries < Rule
        PRIORITY = 88
        BEFORE_TOPOLOGY = Topology::PRIORITY + 1

        LEAST_DB_RATIO = 0.5
        LEAST_COUNT = 10
        NAMED_MAX = 3

        # What is left of an N+1: the list, and all that belongs to it.
        LEFT_COUNT = 2

        # Threads that serve this much of the most are enough.
        ENOUGH_RATIO = 1 - Choice::EQUAL_WITHIN_RATIO

        def call
          return [] unless worst
          changes = changes(worst)
          told = {endpoint: worst.name, count: [count(worst), queries(worst).values.sum].max}
          [advice(title: first? ? say(:queries_first, **told) : say(:many_queries, **told),
            evidence: evidence(worst, changes), effect: (@situation.effect(what_if: changes) if changes),
            change: say(:one_query, rails: rails?), lines:,
            cost: say(:work_on_queries), undo: say(:queries_back))]
        end

        def priority = first? ? BEFORE_TOPOLOGY : super

        # @return [Boolean] whether it comes before workers and threads: by the time of all requests, as a rare endpoint
        #   is no reason for their number
        def first? = !worst.nil? && db_ratio >= LEAST_DB_RATIO

        # @return [Model::EndpointDemand, nil] the one whose queries take the most time of all
        def worst
          @worst ||= (talkative | repeating).max_by { |one| [one.weight_ratio * db_ns(one), queries(one).values.sum] }
        end

        private

        def db_ratio = workload.mean_of { |one| db_ns(one) } / workload.mean_ns

        def talkative
          workload.endpoints.select do |endpoint|
            db_ns(endpoint) >= LEAST_DB_RATIO * endpoint.mean_ns && count(endpoint) >= LEAST_COUNT
          end
        end

        def repeating = workload.endpoints.select { |endpoint| queries(endpoint).values.max.to_f >= LEAST_COUNT }

        # @return [Hash{String => Float}] of a mean request, by the name that Active Record gives
        def queries(endpoint)
          recorded = observation&.endpoints&.find { |one| one.name == endpoint.name }
          recorded ? recorded.queries.transform_values { |count| count.fdiv(recorded.requests_count) } : {}
        end

        # What is answered in the process can't be told from what else it computes.
        def changes(endpoint)
          ["io(db, #{endpoint.name})*#{(LEFT_COUNT / count(endpoint)).round(3)}"] if count(endpoint) > LEFT_COUNT
        end

        def db_ns(endpoint) = mean(endpoint) { |ns| ns }

        def count(endpoint) = mean(endpoint) { |_| 1 }

        def mean(endpoint)
          endpoint.mean_of do |demand|
            demand.waits_ns.zip(demand.wait_kinds).sum { |ns, kind| (kind == "db") ? yield(ns) : 0 }
          end
        end

        def rails? = !@situation.gem("activerecord").nil?

        def lines = rails? ? {"the model's query" => ".includes(:what_belongs_to_it)"} : {}

        def evidence(endpoint, changes)
          waits = say(:db_of_endpoint, endpoint: endpoint.name, count: count(endpoint), db_ns: db_ns(endpoint),
            ratio: db_ns(endpoint) / endpoint.mean_ns, requests_count: endpoint.demands.size)
          repeated = queries(endpoint).select { |_, count| count >= LEAST_COUNT }.first(NAMED_MAX)
          [*(waits if db_ns(endpoint).positive?),
            *repeated.map { |name, count| say(:queries_of_name, endpoint: endpoint.name, name:, count:) },
            *(threads_needed(changes) if changes)]
        end

        # The paradox: who waits less needs fewer threads.
        def threads_needed(changes)
          today, tuned = [[], changes].map { |what_if| enough(what_if) }
          (today && tuned) ? [say(:threads_needed, today_count: today, tuned_count: tuned)] : []
        end

        # @return [Integer, nil] the fewest threads in each worker that serve nearly as much as any number does
        def enough(what_if)
          rates = [1, 2, 3, 5, 8, 16].filter_map do |threads_count|
            forecast = @situation.alternative(what_if:, topology: @situation.topology.with(threads_count:))
            [threads_count, forecast.throughput_per_s.value] if forecast&.steady?
          end
          most = rates.map(&:last).max or return
          rates.find { |_, per_s| per_s >= ENOUGH_RATIO * most }.first
        end
      end
    end
  end
end
