# frozen_string_literal: true

module PumaTuner
  module Report
    class Html
      # The document as it stands in the page, for programs. The recorded requests and how each part was spread are left
      # out: they are nine tenths of it, and nobody reads them in a page. So is each trial's fingerprint, which its
      # variant has.
      module Embedded
        module_function

        # @param value [Data] any document
        # @return [String] JSON in which nothing can end the element that holds it
        def json(value)
          # Inside an HTML script element both "</script" and "<!--" have a meaning; without "<" there is neither.
          Document.dump(without_recorded_requests(value)).gsub("<", "\\u003c")
        end

        # @return [Boolean] whether recorded requests were left out
        def shortened?(value)
          [Tuning, Probe::Observation, Model::Workload, PumaTuner::Lanes::Comparison].include?(value.class)
        end

        # @return [Data] of the same kind
        def without_recorded_requests(value)
          case value
          when Tuning
            value.with(observation: without_recorded_requests(value.observation),
              workload: without_recorded_requests(value.workload),
              verdict: without_recorded_requests(value.verdict))
          when Probe::Observation
            value.with(endpoints: short(value.endpoints), jobs: short(value.jobs), lanes: nil,
              companions: value.companions.map { |companion| without_recorded_requests(companion) },
              part_load: value.part_load && without_recorded_requests(value.part_load))
          when Model::Workload
            value.with(endpoints: value.endpoints.map { |endpoint| endpoint.with(demands: []) })
          when Prove::Verdict
            value.with(trials: value.trials.map { |trial| trial.with(fingerprint: {}) })
          when PumaTuner::Lanes::Comparison then value.with(recordings: [])
          else value
          end
        end

        def short(works) = works.map { |work| work.with(traces: [], distributions: []) }
        private_class_method :short
      end
    end
  end
end
