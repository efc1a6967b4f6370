# frozen_string_literal: true

# What is public API, and nothing else is. A class or module that stands here is public with its methods and fields; of
# one that stands with methods, these alone.
module PublicApi
  # Heading => names.
  LIST = {
    "In your server (gem puma_tuner-probe)" => %w[
      PumaTuner.run PumaTuner.measure PumaTuner.snapshot PumaTuner.export PumaTuner.group_endpoints
      PumaTuner::ProfilerMiddleware PumaTuner::Railtie
      PumaTuner::Export::PrometheusClient PumaTuner::Export::OpenTelemetry
    ],
    "Documents: reading and writing" => %w[
      PumaTuner::Document.read PumaTuner::Document.write PumaTuner::Document.dump
    ],
    "An observation, and what it consists of" => %w[
      PumaTuner::Probe::Observation PumaTuner::Probe::EndpointObservation PumaTuner::Probe::Budget
      PumaTuner::Probe::Histogram PumaTuner::Probe::Distribution PumaTuner::Probe::Blame PumaTuner::Probe::Trace
      PumaTuner::Probe::ThreadObservation PumaTuner::Probe::ProcessObservation PumaTuner::Probe::LockObservation
      PumaTuner::Probe::ProbeCost PumaTuner::Probe::LoadSummary PumaTuner::Probe::ServerFacts
      PumaTuner::Probe::MachineFacts PumaTuner::Probe::ProcessLanes PumaTuner::Probe::Lane
      PumaTuner::Topology PumaTuner::Unknown
    ],
    "Errors" => %w[
      PumaTuner::Error PumaTuner::UsageError PumaTuner::InvalidDocument PumaTuner::InvalidRequestFile
      PumaTuner::MeasurementFailed PumaTuner::ServerFailed PumaTuner::LoadToolFailed PumaTuner::InvalidMeasurement
      PumaTuner::InvariantError
    ],
    "The whole arrow, and a block of Ruby (gem puma_tuner)" => %w[
      PumaTuner::Tuner PumaTuner::Tuner::Plan PumaTuner::Tuning PumaTuner.profile
    ],
    "An app and its load" => %w[
      PumaTuner::Host::Command PumaTuner::Load::Traffic PumaTuner::Load::Mix PumaTuner::Load::Request
      PumaTuner::Load::Arrivals PumaTuner::Load::Native PumaTuner::Load::Outcome PumaTuner::Load::Warmup
    ],
    "Measure" => %w[
      PumaTuner::Measure::LoadedWindow PumaTuner::Measure::LoadedWindow::Times
      PumaTuner::Measure::Recordings PumaTuner::Measure::Recordings::Plan
    ],
    "Model" => %w[
      PumaTuner::Model::WorkloadFit.workload PumaTuner::Model::MachineFit.machine
      PumaTuner::Model::Workload PumaTuner::Model::EndpointDemand PumaTuner::Model::Demand
      PumaTuner::Model::LockDemand PumaTuner::Model::BackgroundDemand PumaTuner::Model::MemoryDemand
      PumaTuner::Model::Recorded PumaTuner::Model::Cost PumaTuner::Model::Arrivals
      PumaTuner::Model::Machine PumaTuner::Model::SwitchCost PumaTuner::Model::Calibrated PumaTuner::Calibrate.call
    ],
    "Predict" => %w[
      PumaTuner::Predict::Sweeper PumaTuner::Predict::Scenario PumaTuner::Predict::Sweep PumaTuner::Predict::Forecast
      PumaTuner::Predict::ClosedForms PumaTuner::Predict::LockWait PumaTuner::Predict::SelfCheck
      PumaTuner::Predict::CheckedSetting PumaTuner::Predict::CheckedFigure PumaTuner::Predict::Capacity
      PumaTuner::Goal PumaTuner::Predict::EndpointLatency PumaTuner::Predict::Miss PumaTuner::Stats::Estimate
      PumaTuner::Stats::Attainment
      PumaTuner::Statement
    ],
    "Advise" => %w[
      PumaTuner::Advise::Advisor PumaTuner::Advise::Constraints PumaTuner::Advise::AdviceList PumaTuner::Advise::Advice
      PumaTuner::Advise::Sizing PumaTuner::Advise::Spare PumaTuner::Advise::Tail
      PumaTuner::Advise::TailPart PumaTuner::Advise::Measured PumaTuner::AdviceCheck
    ],
    "Prove" => %w[
      PumaTuner::Prove::Setup PumaTuner::Prove::Proof PumaTuner::Prove::Proof::Plan PumaTuner::Prove::Variant
      PumaTuner::Prove::Preparation PumaTuner::Prove::TrialRunner::Times PumaTuner::Prove::Looks
      PumaTuner::Prove::Metric PumaTuner::Prove::Verdict PumaTuner::Prove::Cell PumaTuner::Prove::Comparison
      PumaTuner::Prove::Trial PumaTuner::Prove::TrialLoad PumaTuner::Prove::Void PumaTuner::Prove::Failure
      PumaTuner::Prove::Noise PumaTuner::Prove::Disturbed PumaTuner::Prove::Expectation PumaTuner::Prove::Finding
      PumaTuner::Prove::RoundsNeeded PumaTuner::Prove::Cause PumaTuner::Prove::CausePart
    ],
    "Report" => %w[PumaTuner::Report.render PumaTuner::Report.formats],
    "Beside the stages: profiles, trade-offs, fleets" => %w[
      PumaTuner::Profile::Costs PumaTuner::Profile::MethodCost PumaTuner::Profile::AllocationSite
      PumaTuner::Profile::Layer PumaTuner::Profile::Hint PumaTuner::Profile::CostDiff PumaTuner::Profile::MethodDiff
      PumaTuner::Tradeoff::Study PumaTuner::Tradeoff::Point
      PumaTuner::Fleet::Comparison PumaTuner::Fleet::Group PumaTuner::Fleet::Row PumaTuner::Fleet::MixShift
      PumaTuner::Fleet::Mover PumaTuner::Fleet::Service
      PumaTuner::Compare::Outcome PumaTuner::Compare::Facts PumaTuner::Compare::Endpoint
    ]
  }.freeze

  NAMES = LIST.values.flatten.freeze

  # @param object [YARD::CodeObjects::Base]
  # @return [Boolean]
  def self.include?(object, names = NAMES)
    return true if names.include?(object.path)
    return false if object.is_a?(YARD::CodeObjects::NamespaceObject)
    object.visibility == :public && !object.has_tag?(:api) && names.include?(object.namespace.path)
  end
end
