# frozen_string_literal: true

module PumaTuner
  module Predict
    # What limits the forecasts of a workload on a machine, in sentences: for a sweep's remarks.
    module Limits
      # Of what a model does not know, the parts that a forecast is made of; memory and the recording's own latencies are not.
      PARTS = /\A(arrivals|budget|overhead_cpu_ns|tail_cpu_ns|timeslice_ms|endpoint .*)\z/

      NOT_CALIBRATED = "not calibrated: the machine's part is typical figures; run `puma_tuner calibrate` on that machine"

      # @param workload [Model::Workload]
      # @param machine [Model::Machine]
      # @return [Array<String>]
      def self.of(workload, machine)
        unknown = workload.unknown.select { |part, _| PARTS.match?(part) }.map { |part, reason| "#{part}: #{reason}" }
        [machine.calibrated ? other_versions(workload, machine.calibrated) : NOT_CALIBRATED, other_rule(workload, machine), *unknown].compact.freeze
      end

      # Patch releases of one version cost alike.
      def self.other_versions(workload, calibrated)
        differing = {"Ruby" => [calibrated.ruby_version, workload.ruby_version], "Puma" => [calibrated.puma_version, workload.puma_version]}
          .select { |_, versions| versions.compact.map { |version| version[/\A\d+\.\d+/] }.uniq.size > 1 }
        return if differing.empty?
        advice = " (`puma_tuner calibrate --ruby` measures another Ruby)" if differing.key?("Ruby")
        "calibrated with #{differing.map { |name, (with, of)| "#{name} #{with}, forecast for #{of}" }.join("; ")}: what that costs is taken to be the same#{advice}"
      end
      private_class_method :other_versions

      # Builds are patched.
      def self.other_rule(workload, machine)
        by_version = Rules::GVL.key(Rules.gvl(workload.ruby_version)).to_s
        return if [nil, by_version].include?(machine.gvl_rule)
        patched = (machine.gvl_rule == "hot") ? "this Ruby has the hot-thread patch (ruby/ruby#15840)" : "this Ruby is patched"
        "#{patched}: Ruby #{workload.ruby_version} hands over the GVL by the rule \"#{by_version}\", and this build was seen to do it by \"#{machine.gvl_rule}\", which is simulated"
      end
      private_class_method :other_rule
    end
  end
end
