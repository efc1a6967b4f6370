# frozen_string_literal: true

module PumaTuner
  module Report
    module AdviceWords
      # What Advise::Rules::KeepAlive says.
      KEEP_ALIVE = {
        sticky_clients: "Clients that keep their connections keep one worker busier than the others",
        requests_of_workers: ->(counts:) { "The workers served #{Figures.list(counts.map(&:to_s))} requests." },
        end_connections: ->(count:) {
          "close a connection after #{count} requests, so that its next one finds another worker"
        },
        more_connections: "a connection to open every so many requests",
        keep_alive_back: "the line gone (Puma closes a connection after 999 requests)"
      }.freeze
    end
  end
end
