# frozen_string_literal: true

module PumaTuner
  # A machine -> Machine: what Ruby's threads, the cores and Puma itself cost
  # here, measured once and kept. No app is needed.
  #
  # Probes, one file each: of Ruby tick, gvl_rule, handoff, switch_cpu; of the cores wakeups, cold_cpu, meetings,
  # effective_cores (with spinners); of Puma with an empty app (empty_app) puma_cpu (with thread_cpu, register_share),
  # client, tail. Run joins them. The rest: fresh_ruby is where Ruby is measured, disturbance tells what else ran,
  # store keeps the outcome, lookup finds it for an observation.
  module Calibrate
    PumaTuner.autoload_folder(self, "#{__dir__}/calibrate")

    # About how long it takes, with as many cores as most have.
    EXPECTED_S = 40

    # Measures.
    #
    # @param progress [#stage] see CLI::Progress; nil: nobody is told
    # @param effort_ratio [Float] of the usual numbers of samples; for tests
    # @param ruby [String] path of the Ruby whose threads are measured; the
    #   cores and Puma are with the one that runs this program
    # @yieldparam remark [String] what made the figures worse than they could be, as a sentence
    # @return [Model::Machine]
    # @raise [UsageError] when something that is needed is not there
    def self.call(progress: nil, effort_ratio: 1.0, ruby: RbConfig.ruby, &)
      Run.new(progress:, effort_ratio:, ruby:).call(&)
    end

    # @param ruby [String] path of the executable
    # @return [String] of this machine, and the Ruby and Puma that would be calibrated; starts Puma to ask it
    def self.current_key(ruby: RbConfig.ruby)
      ruby_version, = FreshRuby.facts(ruby)
      EmptyApp.serve { |app| key_of(Probe::MachineFacts.read, ruby_version, app.facts["puma_version"]) }
    end

    # Tells machines apart, as far as it bears on the figures. Can be had of an observation, too:
    # `key_of(observation.machine, observation.server.ruby_version, observation.server.puma_version)`.
    #
    # @param facts [Probe::MachineFacts]
    # @return [String] to be read by people
    def self.key_of(facts, ruby_version, puma_version)
      "#{name_of(facts)}, Ruby #{ruby_version}, Puma #{puma_version}"
    end

    # @param facts [Probe::MachineFacts]
    # @return [String] all that makes a machine another, to be read by people
    def self.name_of(facts)
      [facts.cpu_model || "unknown CPU", Units.counted(facts.cores_count, "core"),
        ("limited to #{facts.cpu_quota_cores.round(3)}" if facts.cpu_quota_cores), facts.kernel].compact.join(", ")
    end
  end
end
