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
      # @param say [#call] told what is wrong with the file, and how much is forgotten
      # @param clock [#call]
      def initialize(path = self.class.default_path, say: ->(text) { Kernel.warn("puma_tuner: #{text}") },
        clock: -> { Time.now.utc })
        @say = say
        @file = StateFile.new(path, kept_count: KEPT_COUNT, say:, clock:) do |entry|
          entry.is_a?(Hash) && (Measured.members.map(&:to_s) - entry.keys).empty?
        end
      end

      # @param app_key [String] see Predict::TrackRecord
      # @param measured [Array<Measured>] of which those are kept that have an interval, or failed
      # @return [void]
      def add(app_key, measured)
        told = measured.select { |one| one.outcome == :fails || one.ratio&.level_ratio }
        @file.add(app_key, told.map { |one| JSON.parse(JSON.generate(one.to_document)) })
      end

      # @param app_key [String]
      # @return [Array<Measured>] of each advice what was measured last
      def of(app_key)
        @file.of(app_key).map { |entry| Measured.from_document(entry) }.reverse
          .uniq { |one| [one.rule, one.lines, one.today] }.reverse
      end

      # @param app_key [String]
      # @return [Integer] how many advices were forgotten
      def forget(app_key)
        count = of(app_key).size
        @file.forget(app_key) if count.positive?
        pieces = Units.counted(count, "piece of advice", "pieces of advice")
        @say.call("forgotten what proofs showed of #{pieces} for this app")
        count
      end
    end
  end
end
