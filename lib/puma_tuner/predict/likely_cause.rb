# frozen_string_literal: true

module PumaTuner
  module Predict
    # Finds what most likely makes a simulation miss its recording, by which part of the budget is off: no more than a
    # hint. Report::SelfCheckWords says what that may be.
    module LikelyCause
      # These parts are a request's own demands. When one of them is off, the waits that follow from it are off as well,
      # so they come first.
      DEMANDED = Probe::Parts::DEMANDED.map(&:name).freeze

      # These parts follow from how requests meet.
      FOLLOWING = %w[gvl_wait queue].freeze

      # These parts take longer beside others that use the same cores.
      DISTURBED = ["cpu", "gc", *FOLLOWING].freeze

      # @param off [Array<CheckedFigure>] beyond noise
      # @param recorded [Model::Recorded]
      # @param locks_watched [Boolean]
      # @param taken_ratio [Float, nil] share of the machine that others used while any of the settings was recorded
      # @return [Statement, nil] with the figure that it is about; nil where nothing is off
      def self.of(off, recorded:, locks_watched:, taken_ratio: nil)
        return if off.empty?
        demanded, following = [DEMANDED, FOLLOWING].map { |parts| largest(off, parts) }
        figure = demanded || following
        if taken_ratio.to_f > Probe::LoadSummary::DISTURBED_RATIO && (figure.nil? || DISTURBED.include?(figure.metric))
          return Statement.of(:others, taken_ratio:, figure:)
        end
        return Statement.of(:no_part) unless figure
        # Nobody recorded how requests came.
        return Statement.of(:load_not_ours) if figure.metric == "queue" && recorded.p50_ns.nil?
        Statement.of(kind(figure.metric, locks_watched:), figure:)
      end

      # Locks that were watched are simulated.
      def self.kind(part, locks_watched:) = (part == "lock" && locks_watched) ? :lock_not_watched : part.to_sym
      private_class_method :kind

      def self.largest(figures, parts)
        figures.select { |figure| parts.include?(figure.metric) }
          .max_by { |figure| (figure.simulated.value - figure.recorded).abs }
      end
      private_class_method :largest
    end
  end
end
