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

      # These take longer beside others that use the same cores.
      DISTURBED = [:cpu, :gc, :io_late, *FOLLOWING.map(&:to_sym)].freeze

      # When less than this share of the recorded io is simulated, the model has taken nearly all of it for lateness:
      # those waits were for a core, see Model::LatenessFit. A judgement.
      LATE_RATIO = 0.1

      # @param off [Array<CheckedFigure>] beyond noise
      # @param recorded [Model::Recorded]
      # @param locks_watched [Boolean]
      # @param taken_ratio [Float, nil] share of the machine that others used while any of the settings was recorded
      # @return [Statement, nil] with the figure that it is about, and of IO with the kind of most of it, where there is
      #   one; nil where nothing is off
      def self.of(off, recorded:, locks_watched:, taken_ratio: nil)
        return if off.empty?
        demanded, following = [DEMANDED, FOLLOWING].map { |parts| largest(off, parts) }
        figure = demanded || following
        kind = figure && kind(figure, locks_watched:)
        if Probe::LoadSummary.disturbed?(taken_ratio) && (figure.nil? || DISTURBED.include?(kind))
          return Statement.of(:others, taken_ratio:, figure:)
        end
        return Statement.of(:no_part) unless figure
        # Nobody recorded how requests came.
        return Statement.of(:load_not_ours) if kind == :queue && recorded.p50_ns.nil?
        part = most_of_io(recorded.budget) if kind == :io
        Statement.of(kind, figure:, **{part:}.compact)
      end

      # Locks that were watched are simulated.
      def self.kind(figure, locks_watched:)
        case figure.metric
        when "lock" then locks_watched ? :lock_not_watched : :lock
        when "io" then (figure.simulated.value < figure.recorded * LATE_RATIO) ? :io_late : :io
        else figure.metric.to_sym
        end
      end
      private_class_method :kind

      # CPU that was used without the GVL is in the sum, and in no kind (see Model::WorkloadFit): what is more than half
      # of the sum is more than half of the waits all the more.
      def self.most_of_io(budget)
        (Model::Demand::IO_KINDS - ["io"]).find { |kind| budget.part_ns(kind).to_i > budget.io_ns / 2 }
      end
      private_class_method :most_of_io

      def self.largest(figures, parts)
        figures.select { |figure| parts.include?(figure.metric) }
          .max_by { |figure| (figure.simulated.value - figure.recorded).abs }
      end
      private_class_method :largest
    end
  end
end
