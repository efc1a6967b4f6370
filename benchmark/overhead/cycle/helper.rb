# frozen_string_literal: true

require "rbconfig"

module Overhead
  # The C helper, OverheadCycle, built for this Ruby.
  module Helper
    BUILD_LIMIT_S = 60

    # @param folder [String] where to
    # @raise [PumaTuner::UserMistake] when it can't be built here
    def self.build(folder)
      Dir.chdir(folder) do
        [[RbConfig.ruby, File.join(__dir__, "extconf.rb")], ["make"]].each do |command|
          output, status = PumaTuner::Load::Child.output_of(command, limit_s: BUILD_LIMIT_S)
          next if status&.success?
          raise PumaTuner::UserMistake, "the C helper could not be built; it needs a compiler and make. #{output}"
        end
      end
    rescue SystemCallError => error
      raise PumaTuner::UserMistake, "the C helper could not be built: #{error.message}"
    end
  end
end
