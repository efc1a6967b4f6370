# frozen_string_literal: true

module PumaTuner
  module Advise
    module Rules
      # Clients that keep their connection keep their worker: few of them, such as a proxy's pool, may load one worker
      # while another idles.
      #
      # Evidence: how many requests each worker served over kept connections. Threshold: the busiest has a third more
      # than its share, and that is beyond chance (five standard deviations of a binomial). Effect: forecast with
      # connections of 20 requests. Cost: more connections to open. Undo: the line gone.
      class KeepAlive < Rule
        PRIORITY = 28

        LEAST_RATIO = 4.fdiv(3)
        DEVIATIONS = 5
        MOST_REQUESTS_COUNT = 20

        # Since when it limits all requests of a connection, and not those served in a row.
        FIRST_PUMA = Gem::Version.new("7.0")

        def call
          return [] unless @situation.cluster? && counts.size > 1 && kept? && @situation.puma_version&.>=(FIRST_PUMA)
          return [] unless uneven?
          arrivals = @situation.today.scenario.arrivals.with(reuse_count: MOST_REQUESTS_COUNT)
          return [] if @situation.alternative(arrivals:)&.steady? == false
          effect = @situation.effect(arrivals:)
          return [] if effect&.worse?
          [advice(title: say(:sticky_clients), evidence: [say(:requests_of_workers, counts: counts.sort.reverse)],
            effect:, change: say(:end_connections, count: MOST_REQUESTS_COUNT),
            lines: {PUMA_RB => "max_keep_alive #{MOST_REQUESTS_COUNT}"},
            factors: {"puma.max_keep_alive" => MOST_REQUESTS_COUNT.to_s}, cost: say(:more_connections),
            undo: say(:keep_alive_back))]
        end

        private

        def counts = observation.processes.select { |process| process.role == "worker" }.filter_map(&:requests_count)

        # By the client, and by Puma.
        def kept?
          workload.arrivals.reuse_count.nil? && @situation.setting(:puma, "enable_keep_alives") != "false"
        end

        def uneven?
          share = counts.sum.fdiv(counts.size)
          deviation = Math.sqrt(share * (1 - 1.fdiv(counts.size)))
          counts.max >= LEAST_RATIO * share && counts.max - share >= DEVIATIONS * deviation
        end
      end
    end
  end
end
