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

      # @param off [Array<CheckedFigure>] beyond noise
      # @param recorded [Model::Recorded]
      # @param locks_watched [Boolean]
      # @return [Statement, nil] with the figure that it is about; nil where nothing is off
      def self.of(off, recorded:, locks_watched:)
        return if off.empty?
        demanded, following = [DEMANDED, FOLLOWING].map { |parts| largest(off, parts) }
        figure = demanded || following or return Statement.of(:no_part)
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
