# frozen_string_literal: true

module PumaTuner
  module Report
    module AdviceWords
      # What Advise::Rules::SpoilingEndpoint says.
      SPOILING_ENDPOINT = {
        spoils_others: ->(endpoint:) { "#{endpoint} makes the others wait" },
        others_wait_for_gvl: ->(wait_ns:, requests_count:, ratio:, endpoint:) {
          "The other requests (#{requests_count}) waited for the GVL for #{Units.duration(wait_ns)} in the mean; for " \
            "#{Units.percent(ratio)} of that it was #{endpoint} that held it."
        },
        spoilers_share: ->(endpoint:, ratio:, cpu_ns:) {
          "#{endpoint} is #{Units.percent(ratio)} of the requests, and takes #{Units.duration(cpu_ns)} of CPU each " \
            "time."
        },
        gvl_wait_without: ->(endpoint:, wait_ns:) {
          "Without #{endpoint} a mean request is predicted to wait for the GVL for #{AdviceWords.duration(wait_ns)}."
        },
        move_endpoint: ->(endpoint:, short_slices: false) {
          "send #{endpoint} to servers of its own (by its path, in the proxy), or do its work in a background job" \
            "#{"; a shorter time slice helps the others while it stays" if short_slices}"
        },
        own_group: "a group of servers, or a job queue",
        route_back: "the old route"
      }.freeze
    end
  end
end
