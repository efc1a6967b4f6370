# frozen_string_literal: true

module PumaTuner
  module Calibrate
    # The kept calibration that fits an observation best: of its machine, else of this one;
    # with its Ruby and Puma, else with its Ruby and our own Puma (`puma_tuner calibrate
    # --ruby`), else with those that this program runs with (`puma_tuner calibrate`).
    class Lookup
      # machine: calibrated; remark: what keeps it from being the observed one's own, nil when nothing does
      Found = Data.define(:machine, :remark)

      # @return [String, nil] that this program serves an empty app with
      def self.own_puma_version
        (Gem.loaded_specs["puma"] || Gem::Specification.find_by_name("puma")).version.to_s
      rescue Gem::MissingSpecError
        nil
      end

      # @param store [Store]
      # @param here [Probe::MachineFacts]
      def initialize(store: Store.new, here: Probe::MachineFacts.read)
        @store = store
        @here = here
      end

      # @param observation [Probe::Observation]
      # @return [Found, nil] nil when neither machine has been calibrated
      def call(observation)
        [[observation.machine, nil], [@here, elsewhere(observation)]].each do |facts, remark|
          versions(observation).each do |ruby_version, puma_version|
            machine = @store.read(Calibrate.key_of(facts, ruby_version, puma_version))
            return Found.new(machine:, remark:) if machine
          end
        end
        nil
      end

      private

      def versions(observation)
        server = observation.server
        own_puma_version = self.class.own_puma_version
        [[server.ruby_version, server.puma_version], [server.ruby_version, own_puma_version],
          [RUBY_VERSION, own_puma_version]].uniq
      end

      def elsewhere(observation)
        names = [@here, observation.machine].map { |facts| Calibrate.name_of(facts) }
        "calibrated on this machine (#{names.first}), recorded on another (#{names.last}), whose cores are taken to " \
          "be as good: run `puma_tuner calibrate` there"
      end
    end
  end
end
