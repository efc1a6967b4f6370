# frozen_string_literal: true

require "fileutils"
require "rbconfig"

module Accuracy
  # The C helper, AccuracySpin, built into tmp/ for this Ruby when it is missing or older than its source.
  module Spin
    SOURCE = File.expand_path("spin", __dir__)
    FOLDER = File.expand_path("../../tmp/accuracy/#{RUBY_VERSION}", __dir__)
    BUILD_LIMIT_S = 60

    # @return [String] the folder to put on the load path
    # @raise [PumaTuner::UserMistake] when it can't be built here
    def self.build
      library = File.join(FOLDER, "accuracy_spin.#{RbConfig::CONFIG["DLEXT"]}")
      return FOLDER if File.exist?(library) && File.mtime(library) > File.mtime(File.join(SOURCE, "spin.c"))
      FileUtils.mkdir_p(FOLDER)
      Dir.chdir(FOLDER) { [[RbConfig.ruby, File.join(SOURCE, "extconf.rb")], ["make"]].each { |command| run(command) } }
      FOLDER
    end

    def self.run(command)
      output, status = PumaTuner::Load::Child.output_of(command, limit_s: BUILD_LIMIT_S)
      return if status&.success?
      raise PumaTuner::UserMistake, "the C helper could not be built; it needs a compiler and make. #{output}"
    rescue SystemCallError => error
      raise PumaTuner::UserMistake, "the C helper could not be built: #{error.message}"
    end
    private_class_method :run
  end
end
