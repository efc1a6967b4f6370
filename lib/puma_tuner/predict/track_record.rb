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

      # @param command [String] that serves the app
      # @param endpoint_names [Array<String>]
      # @return [String] tells apps apart
      def self.app_key(command, endpoint_names)
        Digest::SHA256.hexdigest(JSON.generate([command, endpoint_names.sort]))[0, 16]
      end

      # @param path [String]
      # @param say [#call] told what is wrong with the file
      # @param clock [#call] gives the time of a check
      def initialize(path = self.class.default_path, say: ->(text) { Kernel.warn("puma_tuner: #{text}") },
        clock: -> { Time.now.utc })
        @file = StateFile.new(path, kept_count: KEPT_COUNT, say:, clock:) do |entry|
          entry.is_a?(Hash) && entry["metric"].is_a?(String) && entry["log_ratio"].is_a?(Float)
        end
      end

      # @param app_key [String]
      # @param checks [Array<Check>]
      # @param machine_key [String, nil] where they were measured
      # @return [void]
      def add(app_key, checks, machine_key: nil)
        @file.add(app_key,
          checks.select { |check| check.log_ratio.finite? }.map { |check| entry(check, machine_key) })
      end

      # @param app_key [String]
      # @return [Hash{String => Numeric}, nil] by metric: root mean square of ln(measured / forecast), and of the fewest
      #   of them "checks_count"; nil without any
      def past_error(app_key)
        by_metric = @file.of(app_key).group_by { |entry| entry.fetch("metric") }
        return if by_metric.empty?
        errors = by_metric.transform_values do |entries|
          Math.sqrt(entries.sum { |entry| entry.fetch("log_ratio")**2 } / entries.size)
        end
        {**errors, "checks_count" => by_metric.values.map(&:size).min}.freeze
      end

      private

      def entry(check, machine_key)
        {"metric" => check.metric, "log_ratio" => check.log_ratio, "scenario" => check.scenario.to_s,
         "machine" => machine_key, "date" => @file.now}
      end
    end
  end
end
