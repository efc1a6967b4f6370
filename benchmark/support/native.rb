# frozen_string_literal: true

require "fileutils"
require "rbconfig"

module Bench
  # Helpers in C, built into tmp/ for this Ruby when they are missing or older than their source.
  module Native
    FOLDER = File.join(File.expand_path("../..", __dir__), "tmp/benchmark", RUBY_VERSION)
    BUILD_LIMIT_S = 120

    class << self
      # @param source [String] a folder with nothing but its C
      # @param name [String] of the library
      # @return [String] the folder to put on the load path
      # @raise [PumaTuner::UsageError] when it can't be built here
      def build(source, name)
        folder = File.join(FOLDER, name)
        library = File.join(folder, "#{name}.#{RbConfig::CONFIG["DLEXT"]}")
        return folder if File.exist?(library) && Dir[File.join(source, "*.c")].all? { |path| File.mtime(library) > File.mtime(path) }
        FileUtils.mkdir_p(folder)
        run(folder, RbConfig.ruby, "-rmkmf", "-e", 'append_cflags("-O2"); create_makefile(*ARGV)', name, source)
        run(folder, "make")
        folder
      end

      # @param folder [String] to stand in
      # @param command [Array<String>]
      # @raise [PumaTuner::UsageError]
      def run(folder, *command)
        output, status = Dir.chdir(folder) { PumaTuner::Host::Child.output_of(command, limit_s: BUILD_LIMIT_S) }
        raise PumaTuner::UsageError, "a helper in C could not be built; that takes a compiler and make. #{output}" unless status&.success?
      rescue SystemCallError => error
        raise PumaTuner::UsageError, "a helper in C could not be built: #{error.message}"
      end
    end
  end
end
