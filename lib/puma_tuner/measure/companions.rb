# frozen_string_literal: true

module PumaTuner
  module Measure
    # Recordings of one app at other settings than today's: which of them tell
    # most, and whether some are of the same app.
    module Companions
      # Requests to endpoints that the other recording does not have, at most: rare ones may be missing in either.
      OTHER_REQUESTS_RATIO_MAX = 0.1

      # An app that collects much garbage is recorded with these numbers of threads, too. One (garbage of `rake advice`)
      # bore 458, 820, 1,434, 1,269 and 889 requests/s at 2x1, 2x3, 2x5, 2x8 and 2x16, which no curve between the ends
      # tells.
      MORE_THREADS_COUNTS = [5, 8].freeze

      module_function

      # One thread, and another number of workers: two where one process serves
      # today, else one process. What tells most comes first.
      #
      # @param today [Topology]
      # @param workers [Array<Integer>] numbers of workers that are to be predicted
      # @param gc_ratio [Float] share of garbage collection in the CPU of today's requests
      # @return [Array<Topology>]
      def of(today, workers, gc_ratio: 0.0)
        others = workers - [today.workers_count]
        wanted = usual(today, others)
        if gc_ratio > Probe::Budget::COLLECTING_RATIO
          workers_count = (today.workers_count == 1 && others.any?) ? 2 : today.workers_count
          wanted += MORE_THREADS_COUNTS.map { |threads_count| Topology.from(workers_count, threads_count) }
        end
        wanted.uniq - [today]
      end

      def usual(today, other_workers)
        one_thread = today.with(threads_count: 1)
        return [one_thread] if other_workers.empty?
        return [one_thread, today.with(workers_count: 1)] if today.workers_count > 1
        # Two workers of one thread are cheap, and tell what comes of both changes together.
        [one_thread, today.with(workers_count: 2), Topology.from(2, 1)]
      end
      private_class_method :usual

      # @param observation [Observation]
      # @param others [Array<Observation>] made at other settings
      # @return [Observation] the first one, with the others and theirs beside it
      # @raise [UsageError] when they are not of one app
      def join(observation, others)
        companions = [*observation.companions,
          *others.flat_map { |other| [other.with(companions: []), *other.companions] }]
        companions.each { |companion| ensure_same_app(observation, companion) }
        twice = [observation, *companions].map(&:topology).tally.find { |_, count| count > 1 }&.first
        raise UsageError, "there are two recordings at #{twice}; give one for each setting" if twice
        observation.with(companions: companions.freeze)
      end

      def ensure_same_app(one, other)
        unless [one, other].all?(&:topology)
          raise UsageError, "a recording does not say how many workers and threads there were, " \
            "so it can't be combined with others; give it alone"
        end
        unless one.command == other.command
          raise UsageError, "the recordings are of two commands, " \
            "#{one.command.inspect} and #{other.command.inspect}; give recordings of one app"
        end
        strange = [[one, other], [other, one]].map { |pair| strange_endpoint(*pair) }.compact.first
        if strange
          raise UsageError, "the recordings differ in their requests: #{strange} is in one of them only; " \
            "record both with the same requests"
        end
      end
      private_class_method :ensure_same_app

      # @return [String, nil] the most requested endpoint that the other one lacks, when there are many requests to such
      def strange_endpoint(one, other)
        strange = one.endpoints.reject { |endpoint| other.endpoints.any? { |known| known.name == endpoint.name } }
        if strange.sum(&:requests_count) > OTHER_REQUESTS_RATIO_MAX * one.requests_count
          strange.max_by(&:requests_count).name
        end
      end
      private_class_method :strange_endpoint
    end
  end
end
