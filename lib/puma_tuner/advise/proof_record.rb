# frozen_string_literal: true

require "json"

module PumaTuner
  module Advise
    # Keeps, per app and from run to run, what proofs showed of its advice: a file of the user's own state.
    class ProofRecord
      # Each app keeps so many.
      KEPT_COUNT = 100

      # @return [String]
      def self.default_path = StateFile.path("proofs.json")

      # @param path [String]
      # @param settings [Hash] say, clock and read_only, see StateFile
      def initialize(path = self.class.default_path, **settings)
        @file = StateFile.new(path, kept_count: KEPT_COUNT, **settings) { |entry| measured?(entry) }
      end

      # @param app_key [String] see Predict::TrackRecord
      # @param measured [Array<Measured>] of which those are kept that have an interval, or failed
      # @param endpoint_names [Array<String>] of the app
      # @return [void]
      def add(app_key, measured, endpoint_names: [])
        told = measured.select { |one| one.outcome == :fails || one.ratio&.level_ratio }
        @file.add(app_key, told.map { |one| JSON.parse(JSON.generate(one.to_document)) }, endpoint_names:)
      end

      # @param app_key [String]
      # @return [Array<Measured>] of each advice what was measured last under each load
      def of(app_key) = last_of([app_key])

      # @param requests_counts [Hash{String => Integer}] by endpoint, of an app whose command nobody knows
      # @return [Array<Measured>] the same of all apps with these endpoints
      def by_endpoints(requests_counts) = last_of(@file.keys_of(requests_counts))

      # @param app_key [String]
      # @return [Integer] how many advices were forgotten
      def forget(app_key)
        count = of(app_key).uniq(&:subject).size
        @file.forget(app_key) if count.positive?
        pieces = Units.counted(count, "piece of advice", "pieces of advice")
        @file.say("forgotten what proofs showed of #{pieces} for this app")
        count
      end

      private

      def measured?(entry)
        Measured.from_document(entry).measured_at.is_a?(String)
      rescue *Document::MISFITS
        false
      end

      def last_of(app_keys)
        app_keys.flat_map { |app_key| @file.of(app_key) }.map { |entry| Measured.from_document(entry) }
          .sort_by.with_index { |one, index| [one.measured_at, index] }
          .reverse.uniq { |one| [*one.subject, one.arrivals] }.reverse
      end
    end
  end
end
