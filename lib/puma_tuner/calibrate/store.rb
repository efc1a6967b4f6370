# frozen_string_literal: true

require "digest"
require "fileutils"

module PumaTuner
  module Calibrate
    # Keeps calibrated machines between runs: a file for each in the user's cache folder.
    class Store
      # @param folder [String, nil] the user's unless another is given; nil: of a user without one
      # @raise [UsageError] as Host::CacheFolder.find does
      def initialize(folder = Host::CacheFolder.find)
        @folder = folder
      end

      # @param key [String] see Calibrate.key_of
      # @return [String]
      # @raise [UsageError] where there is no folder
      def path(key)
        File.join(@folder || Host::CacheFolder.path, "machine-#{Digest::SHA256.hexdigest(key)[0, 8]}.json")
      end

      # A file that can't be read, or is another version's or another machine's, is as good as absent: it can be
      # measured again.
      #
      # @param key [String]
      # @return [Model::Machine, nil]
      def read(key)
        machine = Document.read(path(key), :machine)
        machine if machine.calibrated&.machine_key == key
      rescue UsageError, NoMethodError, SystemCallError, EncodingError
        nil
      end

      # @param observation [Probe::Observation]
      # @return [Model::Machine, nil] of just its machine, Ruby and Puma; Lookup takes others in their place
      def of(observation)
        read(Calibrate.key_of(observation.machine, observation.server.ruby_version, observation.server.puma_version))
      end

      # @param machine [Model::Machine] calibrated
      # @return [String] the file
      # @raise [UsageError] when there is no place; whoever only wants the value may go on without
      def write(machine)
        place = path(machine.calibrated.machine_key)
        FileUtils.mkdir_p(File.dirname(place))
        Document.write(machine, place)
        place
      rescue SystemCallError => error
        raise UsageError, "cannot keep the calibration: #{error.message}. " \
          "Set PUMA_TUNER_CACHE to a folder that can be written to."
      end
    end
  end
end
