# frozen_string_literal: true

require "tmpdir"

# A shell program in the place of a load generator's, which need not be installed.
module StandIn
  # Runs the block with a generator for which this program is the one.
  # @param generator_class [Class]
  # @param script [String] for sh; the arguments are in "$@", and kept, a line each, in the file ./words of its folder
  # @yieldparam generator [OtherGenerators::Program]
  # @yieldparam words [#call] the arguments of its last run
  def with_stand_in(generator_class, script)
    Dir.mktmpdir do |folder|
      program = File.join(folder, generator_class::PROGRAM)
      File.write(program, "#!/bin/sh\nprintf '%s\\n' \"$@\" > #{folder}/words\n#{script}\n")
      File.chmod(0o755, program)
      yield generator_class.new(search_path: folder), -> { File.readlines(File.join(folder, "words"), chomp: true) }
    end
  end
end
