# frozen_string_literal: true

module PumaTuner
  module CLI
    # The grid of scenarios to predict, from the words of the command.
    class Scenarios
      # A sweep of more is a typing error, or takes an hour.
      MOST_COUNT = 5_000

      OPTIONS = %i[min_threads io_threads timeslice affinity queue_requests].freeze

      # Since when Ruby reads RUBY_THREAD_TIMESLICE, and Puma has max_io_threads.
      TIMESLICE_RUBY = "3.4"
      IO_THREADS_PUMA = "8.0"

      # @param workload [Model::Workload]
      # @param min_threads [Array<Integer>, nil]
      # @param io_threads [Array<Integer>, nil]
      # @param timeslice [Array<Integer>, nil] milliseconds
      def initialize(workload, min_threads: nil, io_threads: nil, timeslice: nil, affinity: false, queue_requests: nil)
        @affinity = affinity
        @workload = workload
        @queue_requests = queue_requests
        @min_threads = min_threads
        @io_threads = io_threads || [nil]
        @timeslices = timeslice || [nil]
        if io_threads&.max.to_i.positive?
          refuse_for_version("--io-threads", "Puma", IO_THREADS_PUMA, workload.puma_version)
        end
        refuse_for_version("--timeslice", "Ruby", TIMESLICE_RUBY, workload.ruby_version) if timeslice
      end

      # @param topologies [Array<Topology>]
      # @param loads [Array<Model::Arrivals>]
      # @return [Array<Predict::Scenario>]
      def of(topologies, loads)
        with_minimum = topologies.flat_map { |topology| minimums(topology).map { |count| [topology, count] } }
        refuse_minimum(topologies) if with_minimum.empty?
        grid = [with_minimum, @io_threads, @timeslices, loads]
        refuse_size(grid.map(&:size).inject(:*))
        with_minimum.product(@io_threads, @timeslices, loads)
          .map do |(topology, min_threads_count), io_threads_count, timeslice_ms, arrivals|
          Predict::Scenario.as_recorded(@workload, topology, arrivals, min_threads_count:, timeslice_ms:,
            affinity: @affinity, **{io_threads_count:, queue_requests: @queue_requests}.compact)
        end
      end

      private

      def minimums(topology)
        @min_threads ? @min_threads.select { |count| count <= topology.threads_count } : [topology.threads_count]
      end

      def refuse_minimum(topologies)
        raise UsageError, "--min-threads #{@min_threads.join(",")}: " \
          "no topology has that many threads (the most is #{topologies.map(&:threads_count).max}); " \
          "give a smaller number, or more --threads"
      end

      def refuse_size(count)
        return if count <= MOST_COUNT
        raise UsageError, "that is #{Report::Figures.count(count)} scenarios, " \
          "and #{Report::Figures.count(MOST_COUNT)} are the most; ask for fewer --threads, --workers or loads"
      end

      # A recording that does not tell its version is taken at the user's word.
      def refuse_for_version(option, name, since, version)
        return unless version && Gem::Version.correct?(version) && Gem::Version.new(version) < Gem::Version.new(since)
        raise UsageError, "#{option} needs #{name} #{since} or newer, and the recording is of #{name} #{version}. " \
          "Leave it out, or add --what-if #{name.downcase}=#{since}"
      end
    end
  end
end
