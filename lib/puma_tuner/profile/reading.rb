# frozen_string_literal: true

require "time"

module PumaTuner
  module Profile
    # The files of one profile, of one process or of several -> Costs.
    class Reading
      # @param profiler [Class] of Profilers
      # @param mode [String]
      # @param target [String] what was looked at, in words
      # @param whole [Boolean] see Aggregate
      def initialize(profiler:, mode:, target:, command: nil, whole: false)
        @profiler = profiler
        @mode = mode
        @target = target
        @command = command
        @whole = whole
      end

      # @param files [Array<String>]
      # @param facts [Hash] duration_ns, work_count, work_noun and gems, as far as they are known
      # @yieldparam samples [Samples] of a file, and its path
      # @yieldreturn [Samples] those that count
      # @return [Costs]
      # @raise [UnreadableProfile, InvalidMeasurement] for files that can't be
      #   read, and for profiles in which nothing is
      def call(files, unknown: [], **facts)
        samples = files.map do |path|
          read = Readers.read(@profiler, path, mode: @mode)
          block_given? ? yield(read, path) : read
        end
        ensure_content(samples, files)
        costs(samples, files, unknown, facts)
      end

      private

      def costs(samples, files, unknown, facts)
        aggregate = Aggregate.new(samples, whole: @whole)
        costs = Costs.new(
          profiler: @profiler::NAME, profiler_version: samples.first.profiler_version, mode: @mode,
          unit: samples.first.unit, target: @target,
          methods: aggregate.methods, tree: aggregate.tree, allocations: aggregate.allocations, hints: [],
          total_amount: aggregate.total_amount, left_out_amount: aggregate.left_out_amount,
          samples_count: samples_count(samples, aggregate),
          interval_ns: mean_interval_ns(samples), lost_count: sum(samples, :lost_count),
          duration_ns: facts[:duration_ns],
          work_count: facts[:work_count], work_noun: facts.fetch(:work_noun, "request"),
          files: files.map { |path| File.expand_path(path) },
          viewer: @profiler::VIEWER.gsub("FILE", File.expand_path(files.first)), machine: Probe::MachineFacts.read,
          command: @command, recorded_at: Time.now.utc.iso8601, unknown:, gems: facts[:gems],
          layers: aggregate.layers
        )
        costs.with(hints: Hints.of(costs))
      end

      # Returns the number of samples that count; nil for a profiler that follows everything.
      def samples_count(samples, aggregate)
        return if @profiler::TRACING
        all = sum(samples, :samples_count)
        amount = aggregate.total_amount + aggregate.left_out_amount
        return all if all.nil? || amount.zero?
        (all * aggregate.total_amount.fdiv(amount)).round
      end

      # Profilers that divide a process's CPU time by its samples have an interval of their own in each file. A file
      # counts as often as it has samples, so that all samples together stand for the time of all files.
      def mean_interval_ns(samples)
        known = samples.select { |one| one.interval_ns && one.samples_count&.positive? }
        return samples.first.interval_ns if known.empty?
        known.sum { |one| one.interval_ns * one.samples_count }.fdiv(known.sum(&:samples_count)).round
      end

      def sum(samples, field) = (samples.sum(&field) if samples.all?(&field))

      def ensure_content(samples, files)
        if files.empty?
          raise InvalidMeasurement, "#{@profiler::NAME} wrote no file. Check that requests were served while it was " \
            "profiling."
        end
        return if samples.any? { |one| one.stacks.any? || one.calls.any? || one.allocations.any? }
        raise InvalidMeasurement, "there is nothing in #{files.join(", ")}: #{@profiler::NAME} took no sample. " \
          "Possible ways to get some: a longer --duration, more load, or a shorter --interval."
      end
    end
  end
end
