# frozen_string_literal: true

require "json"

module PumaTuner
  module Probe
    # The settings that a forecast recommends to the server that it was made for, in a file beside the server's ledgers:
    # the process that forecasts writes it, and whoever prints or exports it reads it.
    #
    # topology: recommended, "2x3"; nil where there is none; today: what the server had
    # metric: "throughput" or "p99", by which it was chosen; ratio: of that over today's, [middle, low, high]; nil where
    #   today's settings are recommended, or have no steady state
    # requests_count: recorded, on which the forecast rests
    # why_not: nil, or why there is no recommendation: "few_requests", "not_reproduced", "no_engine", "failed",
    #   "pool" (more threads would wait for a pool of connections) or "no_steady_state" (nothing bears the load)
    # detail: a text on that, or nil
    # made_at_s: by the wall clock
    # withheld: topologies that an earlier proof showed to make the app worse, ["2x5"]
    Recommendation = Document.define(:topology, :today, :metric, :ratio, :requests_count, :why_not, :detail, :made_at_s,
      :withheld, added: {withheld: []})

    class Recommendation
      FILE = Forecasting::FILE

      # It is written anew every ten minutes; one this old has nobody who could write it any more.
      OLD_S = 1_800

      # What is larger is none of ours.
      MOST_BYTES = 10_000

      # @param directory [String] of the ledgers
      # @return [Recommendation, nil] nil where there is none that can be read
      def self.read(directory)
        text = File.binread(File.join(directory, FILE), MOST_BYTES)
        one = from_document(JSON.parse(text))
        one if one.age_s && (one.topology.nil? || one.tellable?)
      rescue SystemCallError, JSON::ParserError, UsageError, *Document::MISFITS
        nil
      end

      # @return [Recommendation] of nothing
      def self.none(why_not, detail: nil, requests_count: 0)
        new(topology: nil, today: nil, metric: nil, ratio: nil, requests_count:, why_not:, detail:,
          made_at_s: Time.now.to_f)
      end

      # @return [Boolean] whether it has what every line about it tells
      # @raise [UsageError]
      def tellable? = [topology, today].all? { |text| Topology.parse(text) } && [nil, 3].include?(ratio&.size)

      # @param directory [String] of the ledgers
      # @raise [SystemCallError]
      def write(directory) = AtomicFile.write(File.join(directory, FILE), JSON.generate(to_document))

      # @return [Float]
      def age_s = Time.now.to_f - made_at_s

      def old? = age_s > OLD_S

      # @return [Boolean] whether requests were just seen to wait for a pool of connections
      def pool_first? = why_not == "pool" && !old?

      # @return [Topology, nil] to be told now
      def settings = (Topology.parse(topology) if topology && !old?)
    end
  end
end
