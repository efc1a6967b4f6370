# frozen_string_literal: true

module PumaTuner
  module Block
    # The user's file of blocks: plain Ruby, in which `block("name") { … }` says what to repeat. What stands around it
    # is run once per process, and not measured.
    #
    #   data = Array.new(100) { |i| {id: i} }
    #   block("generate") { JSON.generate(data) }
    #   block("by itself") { |count| count.times { … } }   # given how often, it repeats itself: no calls are measured
    module UserFile
      BOOT_LIMIT_S = 60

      module_function

      # Runs the file in a process of its own, without its blocks.
      # @param file [String]
      # @param command [Host::Command] that ends in a Ruby
      # @return [Array<String>] of its blocks, at least one
      # @raise [UsageError]
      def names(file, command, boot_limit_s: BOOT_LIMIT_S)
        ensure_there(file)
        ending = Block::ChildProcess.call(command, file, ["list"], boot_limit_s:)
        if (problem = ending.mistake || (ending.void_reason unless ending.reports.key?("listed")))
          raise UsageError.new(complaint(file, problem), output: ending.mistake ? [] : ending.last_lines)
        end
        if ending.names.empty?
          raise UsageError, complaint(file, "there is no block in it; write: block(\"name\") { … }")
        end
        ending.names
      end

      # @raise [UsageError]
      def ensure_there(file)
        return if File.file?(file)
        raise UsageError, "there is no #{file}. Give the path of a Ruby file with block(\"name\") { … } in it."
      end

      # @param problem [String]
      # @return [String] with the file named as the user named it
      def complaint(file, problem) = "#{file}: #{problem}".gsub(File.expand_path(file), file)
    end
  end
end
