# frozen_string_literal: true

require "fileutils"

module PumaTuner
  module Profile
    # A block of Ruby, in a process of its own: warmed up, then repeated while the profiler looks.
    class BlockRun
      # It may take so long beyond warm-up and repetition, to write what the profiler has, and for an iteration under
      # way.
      GRACE_S = 120

      # @param file [String] see Block::UserFile
      # @param command [Host::Command] that ends in a Ruby
      # @param name [String, nil] of the block; nil: the only one
      # @param iterations_count [Integer, nil] nil: as many as fit into duration_s
      def initialize(file:, command:, settings:, profiler:, name:, warmup_s:, duration_s:, iterations_count: nil,
        boot_limit_s: Block::UserFile::BOOT_LIMIT_S)
        @file = file
        @command = command
        @settings = settings
        @profiler = profiler
        @name = name
        @warmup_s = warmup_s
        @duration_s = duration_s
        @iterations_count = iterations_count
        @boot_limit_s = boot_limit_s
      end

      # @return [Float] about how long it takes
      def expected_s = 1 + @warmup_s + @duration_s

      # @return [Costs]
      # @raise [UsageError] when the file can't be loaded, the block can't be run, or the profiler can't look at it
      def call
        FileUtils.mkdir_p(@settings.folder)
        ending = run
        problem = ending.mistake || ending.void_reason
        if problem
          raise UsageError.new(Block::UserFile.complaint(@file, problem),
            output: ending.mistake ? [] : ending.last_lines)
        end
        profiled = ending.reports.fetch("profiled")
        Reading.new(profiler: @profiler, mode: @settings.mode, target: "block #{profiled[:name].inspect} of #{@file}",
          command: Host::Masking.own_command)
          .call([profiled[:path]], duration_ns: profiled[:duration_ns], work_count: profiled[:iterations_count],
            work_noun: "iteration")
      end

      private

      def run
        command = @command.with(environment: {**@command.environment, **@settings.to_environment})
        words = ["profile", @warmup_s.to_s, @duration_s.to_s, @iterations_count.to_s, *@name]
        Block::ChildProcess.call(command, @file, words, boot_limit_s: @boot_limit_s,
          run_limit_s: @warmup_s + @duration_s + GRACE_S)
      end
    end
  end
end
