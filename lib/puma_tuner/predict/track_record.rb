# frozen_string_literal: true

require "digest"
require "json"

module PumaTuner
  module Predict
    # Keeps, per app and from run to run, how far forecasts missed what was then measured: the next forecasts of the app
    # are as uncertain as the earlier ones turned out to be.
    class TrackRecord
      # Each app keeps so many checks. An app changes, and so do we.
      KEPT_COUNT = 200

      # @return [String]
      def self.default_path = StateFile.path("forecasts.json")

      # Several endpoints tell an app, wherever it lies: a release in a new folder and a second checkout are the same
      # one. A single endpoint does not, as `/` is what is sent to any app without a word about it; there the name of
      # the folder belongs to it, which releases share (see Host::Command#folder_name). In another environment an app
      # is another one, with its code reloaded and its caches off.
      #
      # @param observation [Probe::Observation]
      # @param endpoint_names [Array<String>] of its workload
      # @return [String] tells apps apart
      def self.app_key(observation, endpoint_names)
        folder = observation.folder if endpoint_names.size < 2
        facts = [observation.command, endpoint_names.sort, observation.server.rack_environment, folder]
        Digest::SHA256.hexdigest(JSON.generate(facts))[0, 16]
      end

      # @param log_ratios [Hash{String => Array<Float>}] of checks, by metric: ln(measured / forecast)
      # @return [Hash{String => Numeric}] by metric their root mean square; as "p99_checks_count" how many they are of
      #   that metric, which open loops and closed ones have not alike; and "checks_count", the most of them
      def self.error(log_ratios)
        errors = log_ratios.transform_values { |logs| Math.sqrt(logs.sum { |log| log**2 } / logs.size) }
        counts = log_ratios.to_h { |metric, logs| ["#{metric}_checks_count", logs.size] }
        {**errors, **counts, "checks_count" => counts.values.max}.freeze
      end

      # @param path [String]
      # @param settings [Hash] say, clock (of checks) and read_only, see StateFile
      def initialize(path = self.class.default_path, **settings)
        @file = StateFile.new(path, kept_count: KEPT_COUNT, **settings) do |entry|
          entry.is_a?(Hash) && entry["metric"].is_a?(String) && entry["log_ratio"].is_a?(Float)
        end
      end

      # @param app_key [String]
      # @param checks [Array<Check>]
      # @param machine_key [String, nil] where they were measured
      # @param endpoint_names [Array<String>] of the app
      # @return [void]
      def add(app_key, checks, machine_key: nil, endpoint_names: [])
        @file.add(app_key, checks.select { |check| check.log_ratio.finite? }.map { |check| entry(check, machine_key) },
          endpoint_names:)
      end

      # @param requests_counts [Hash{String => Integer}] by endpoint, of an app whose command nobody knows
      # @return [Hash, nil] as past_error, of all apps with these endpoints
      def past_error_by_endpoints(requests_counts) = error_of(@file.keys_of(requests_counts))

      # @param app_key [String]
      # @return [Hash{String => Numeric}, nil] see error; nil without any check
      def past_error(app_key) = error_of([app_key])

      private

      def error_of(app_keys)
        by_metric = app_keys.flat_map { |app_key| @file.of(app_key) }.group_by { |entry| entry.fetch("metric") }
        return if by_metric.empty?
        TrackRecord.error(by_metric.transform_values { |entries| entries.map { |entry| entry.fetch("log_ratio") } })
      end

      def entry(check, machine_key)
        {"metric" => check.metric, "log_ratio" => check.log_ratio, "scenario" => check.scenario.to_s,
         "machine" => machine_key, "date" => @file.now}
      end
    end
  end
end
