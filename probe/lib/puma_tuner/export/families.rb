# frozen_string_literal: true

module PumaTuner
  module Export
    # A metric with all its samples.
    #
    # type: "counter", "gauge" or "histogram"; help: one sentence
    # samples: {labels => number or Buckets}, labels {name => value} without those that every sample gets
    Family = Data.define(:name, :type, :help, :samples) do
      # @param name [String] without what all of ours begin with
      # @param samples [Hash] of which those that nobody knows, nil, are left out
      # @return [Family]
      def self.of(name, type, help, samples) = new(name: "puma_tuner_#{name}", type:, help:, samples: samples.compact)

      # @return [Boolean] whether there is anything to tell
      def any? = samples.any?
    end

    # A reading as metrics, named as Prometheus wants it: base units, `_total` on counters, and labels whose values are
    # few. A number that nobody knows has no sample; it is never 0.
    class Families
      PARTS = Probe::Parts::REQUEST

      # A reading of a server that has recorded nothing: families are made of it as of any other.
      Nothing = Data.define(:works, :processes, :why_not, :working_set_bytes)
        .new(works: [], processes: [], why_not: [], working_set_bytes: nil)
      private_constant :Nothing

      # @return [Array<Family>] all that there are, without samples of any use
      def self.names = new(Nothing).call

      # @param reading [Reading]
      def initialize(reading)
        @reading = reading
        @requests, @jobs = reading.works.partition { |work| work.kind == :request }
      end

      # @return [Array<Family>]
      def call = [info, clock, *requests, *jobs, *ProcessFamilies.new(@reading.processes).call, group]

      private

      def family(...) = Family.of(...)

      def info
        gauges = @reading.processes.map(&:gauges).find(&:any?) || {}
        labels = {schema: SCHEMA, version: VERSION, ruby: gauges["ruby"], puma: gauges["puma"],
                  complete: @reading.why_not.empty?.to_s}.compact
        family("exporter_info", "gauge", "What is exported by: schema of these metrics, versions, " \
          "and whether everything can be seen.", {labels => 1})
      end

      def clock
        family("clock_seconds", "gauge", "This machine's clock, to find one that is wrong.", {{} => Time.now.to_f})
      end

      # Beside the sum of PSS, which lacks what the kernel keeps for the container: page cache in use, sockets, tables.
      def group
        family("cgroup_working_set_bytes", "gauge", "Memory of the server's control group without idle file pages, " \
          "as Kubernetes tells it of a container; absent without a group.", {{} => @reading.working_set_bytes})
      end

      def requests
        all = ->(part, bounds) { merged(part, bounds)&.then { |buckets| {{} => buckets} } || {} }
        [
          family("request_duration_seconds", "histogram",
            "From being queued in Puma to the end of the response, of all requests.", all.call(:wall, Bounds::FINE)),
          family("request_queue_seconds", "histogram", "In Puma, waiting for a pool thread.",
            all.call(:queue, Bounds::WAITS)),
          family("request_gvl_wait_seconds", "histogram", "Could have run, and waited for the GVL.",
            all.call(:gvl_wait, Bounds::WAITS)),
          family("endpoint_request_duration_seconds", "histogram", "The same as request_duration, by endpoint.",
            durations(@requests, :endpoint)),
          family("request_time_seconds_total", "counter", "Where the duration of requests went, by endpoint and part.",
            times(@requests, :endpoint))
        ]
      end

      def jobs
        [
          family("job_duration_seconds", "histogram", "Of work that is no request, by kind.", durations(@jobs, :kind)),
          family("job_time_seconds_total", "counter", "Where the duration of jobs went, by kind and part.",
            times(@jobs, :kind))
        ]
      end

      # Over all requests, from none on: of a counter that begins above zero, Prometheus does not see what came before.
      # Nil where one process can't tell.
      def merged(part, bounds)
        histograms = @requests.map { |work| work.histograms[part] }
        return if histograms.include?(nil) || (part == :gvl_wait && @reading.why_not.any?)
        Buckets.sum(histograms, bounds)
      end

      def durations(works, label)
        works.to_h { |work| [{label => work.name}, work.durations] }
      end

      def times(works, label)
        # Nobody knows when jobs were queued.
        parts = (label == :kind) ? PARTS - [:queue] : PARTS
        works.flat_map { |work|
          parts.map { |part| [{label => work.name, :part => part.to_s}, work.sums_ns[part]&.fdiv(Units::NS_PER_S)] }
        }.to_h
      end
    end
  end
end
