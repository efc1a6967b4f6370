# frozen_string_literal: true

require_relative "servers"

module Validation
  # The figures of this machine with a recording's Ruby and Puma: as `puma_tuner calibrate` has kept them, or measured now and
  # kept where it keeps them.
  class Calibration
    LIBRARY = File.expand_path("../../lib", __dir__)
    LIMIT_S = 180

    # It calibrates the Ruby and the Puma that it runs with, so it runs in the bundle of the server.
    CHILD = 'require "puma_tuner"; PumaTuner::Calibrate::Store.new.write(PumaTuner::Calibrate.call)'

    # @param servers [Servers]
    # @param say [#call] told when it takes time
    def initialize(servers:, say:)
      @servers = servers
      @say = say
      @store = PumaTuner::Calibrate::Store.new
    end

    # @param observation [PumaTuner::Probe::Observation]
    # @return [PumaTuner::Model::Machine]
    # @raise [PumaTuner::UserMistake] when it can't be calibrated
    def machine(observation)
      versions = [observation.server.ruby_version, observation.server.puma_version]
      key = PumaTuner::Calibrate.key_of(observation.machine, *versions)
      @store.read(key) || begin
        @say.call("calibrating for Ruby #{versions.first}, Puma #{versions.last}")
        said = measure(*versions)
        @store.read(key) or raise PumaTuner::UserMistake, "no calibration came of it: #{said.lines.first&.strip}"
      end
    end

    private

    # @return [String] what it said
    def measure(ruby_version, puma_version)
      ruby, puma = [ruby_version, puma_version].map { |version| version[/\A\d+\.\d+/] }
      command = @servers.command(Subject.new(workload_name: "empty", ruby:, puma:, timeslice_ms: 100))
      *bundle, _puma, _rackup = command.words
      # Nothing of the bundle that we run in.
      environment = ENV.to_h.transform_values { nil }.merge(command.environment)
      output, = PumaTuner::Load::Child.output_of([environment, *bundle, command.words.first, "-I", LIBRARY, "-e", CHILD], limit_s: LIMIT_S)
      output.to_s
    end
  end
end
