# frozen_string_literal: true

module PumaTuner
  module Predict
    # Lists what limits the forecasts of a workload on a machine.
    module Limits
      # A forecast is made of these; what a model does not know of memory and of the recording's own latencies does not
      # limit it.
      FIELDS = %i[environment arrivals budget overhead_cpu_ns tail_cpu_ns endpoint mean_gc_ns].freeze

      # @param workload [Model::Workload]
      # @param machine [Model::Machine]
      # @return [Array<Unknown>]
      def self.of(workload, machine)
        calibration = if machine.calibrated
          other_versions(workload, machine.calibrated)
        else
          Unknown.of(:machine, :not_calibrated)
        end
        [calibration, typical_meetings(machine), other_rule(workload, machine),
          *workload.unknown.select { |unknown| FIELDS.include?(unknown.field) }].compact.freeze
      end

      # Patch releases of one version cost alike.
      def self.other_versions(workload, calibrated)
        differing = {ruby: [calibrated.ruby_version, workload.ruby_version],
                     puma: [calibrated.puma_version, workload.puma_version]}
          .select { |_, versions| versions.compact.map { |version| version[/\A\d+\.\d+/] }.uniq.size > 1 }
        Unknown.of(:machine, :other_versions, **differing) if differing.any?
      end
      private_class_method :other_versions

      # Older calibrations lack it. On a single core there is no other that could be idle.
      def self.typical_meetings(machine)
        return unless machine.calibrated && machine.meeting_ratio.nil? && machine.cores_count > 1
        Unknown.of(:meeting_ratio, :meetings_not_measured, assumed_ratio: Model::MachineFit.meeting_ratio(machine))
      end
      private_class_method :typical_meetings

      # Builds are patched.
      def self.other_rule(workload, machine)
        by_version = Rules.gvl(workload.ruby_version).to_s
        return if [nil, by_version].include?(machine.gvl_rule)
        Unknown.of(:gvl_rule, :patched_ruby, ruby_version: workload.ruby_version, by_version:, seen: machine.gvl_rule)
      end
      private_class_method :other_rule
    end
  end
end
