# frozen_string_literal: true

require "digest"
require "etc"

module PumaTuner
  module Prove
    # Runs one trial of a block of Ruby: a fresh process, a warm-up, the
    # repetitions that count, and what the process says of them.
    class BlockRunner
      # It is added to warm-up and counting, for an iteration that is under way at the end of either.
      GRACE_S = 10

      # This is the guess of how long it takes to start, to load a file, and to be judged steady at the earliest.
      START_S = 0.7
      SHORTEST_WARMUP_S = 1.6

      # Fewer iterations than these are remarked on.
      FEW_ITERATIONS = 20

      # An empty loop makes one or two per nanosecond, with YJIT.
      IMPOSSIBLE_PER_NS = 10

      # @param file [String] see Block::UserFile
      # @param commands [#call] Variant to a Host::Command that ends in a Ruby
      # @param warmup_limit_s [Numeric] what is not steady then is measured all the same, and said to be so
      # @param duration_s [Numeric] that counts, more than 0
      # @param boot_limit_s [Numeric] to load the file, and to run the block once
      def initialize(file:, commands:, warmup_limit_s:, duration_s:, boot_limit_s: Block::UserFile::BOOT_LIMIT_S,
        grace_s: GRACE_S)
        @file = file
        @commands = commands
        @warmup_limit_s = warmup_limit_s
        @duration_s = duration_s
        @boot_limit_s = boot_limit_s
        @grace_s = grace_s
      end

      # @return [Float] about how long one trial takes, of a block that is soon steady
      def expected_s = START_S + [SHORTEST_WARMUP_S, @warmup_limit_s].min + @duration_s.to_f

      # Makes what the variant runs, before anything is timed.
      # @return [void]
      # @raise [UsageError] when it can't be had
      def prepare(variant) = @commands.call(variant)

      # @param variant [Variant] its factor "block" chooses the block; without it the file must have only one
      # @return [Trial]
      # @raise [UsageError] when the file can't be loaded, or the block can't be run once
      def call(variant, round:, position:)
        ending = run(variant)
        raise UsageError, "with #{variant.name}, #{Block::UserFile.complaint(@file, ending.mistake)}" if ending.mistake
        reason = ending.void_reason
        void = reason && Void.failed(Block::UserFile.complaint(@file, reason), output: ending.last_lines)
        Trial.new(variant: variant.name, round:, position:, **measured(ending.counted), void:)
      end

      private

      def run(variant)
        command = @commands.call(variant)
        words = ["run", @warmup_limit_s.to_s, @duration_s.to_s, *variant.factors["block"]]
        Block::ChildProcess.call(command, file_of(command), words, boot_limit_s: @boot_limit_s,
          run_limit_s: @warmup_limit_s + @duration_s + @grace_s)
      end

      def measured(counted)
        return {requests_count: 0} unless counted
        {
          values: values(counted), requests_count: counted[:iterations_count],
          warmup: Load::Warmup.new(**counted[:warmup]), memory: memory(counted),
          conditions: conditions(counted),
          fingerprint: {**counted[:fingerprint], [:file, "block"] => Digest::SHA256.file(@file).hexdigest[0, 12]},
          remarks: remarks(counted)
        }
      end

      # A checkout of another commit has its own.
      def file_of(command)
        own = File.join(command.directory, File.basename(@file))
        File.file?(own) ? own : @file
      end

      def memory(counted)
        end_point = [counted[:warmup][:requests_count] + counted[:iterations_count], counted[:pss_bytes],
          counted[:rss_bytes]]
        end_point.include?(nil) ? counted[:memory] : [*counted[:memory], end_point]
      end

      # @return [Hash] of those Metric::BLOCK that can be told
      def values(counted)
        count = counted[:iterations_count]
        {
          "iterations" => count * Units::NS_PER_S.fdiv(counted[:duration_ns]),
          "cpu_per_iteration" => counted[:cpu_ns].fdiv(count),
          "gc_per_iteration" => counted[:gc_ns]&.fdiv(count),
          "allocations_per_iteration" => counted[:allocated_count].fdiv(count),
          "rss" => counted[:rss_bytes]
        }.compact
      end

      # Names and meanings are those of Conditions, as far as they apply. The CPU time of the block's own child
      # processes is foreign here.
      def conditions(counted)
        duration_ns, cpu_ns = counted.values_at(:duration_ns, :cpu_ns)
        # Neither count has the wait of threads that have ended since.
        wait_ns = counted[:run_queue_wait_ns]&.clamp(0..)
        machine_ns = duration_ns * Etc.nprocessors
        {
          "run_queue_wait_ratio" => wait_ns&.fdiv([wait_ns + cpu_ns, 1].max),
          "pressure_ratio" => counted[:pressure_ns]&.fdiv(duration_ns),
          "foreign_cpu_ratio" => counted[:busy_ns]
            &.then { |busy_ns| (busy_ns - cpu_ns).fdiv(machine_ns).clamp(0.0, 1.0) },
          "stolen_ratio" => counted[:stolen_ns]&.fdiv(machine_ns), "throttled_count" => counted[:throttled_count]
        }.compact
      end

      def remarks(counted)
        count, duration_ns = counted.values_at(:iterations_count, :duration_ns)
        [
          *(Statement.of(:few_iterations, iterations_count: count, duration_s: @duration_s) if count < FEW_ITERATIONS),
          *(Statement.of(:idle_iterations) if count > duration_ns * IMPOSSIBLE_PER_NS)
        ]
      end
    end
  end
end
