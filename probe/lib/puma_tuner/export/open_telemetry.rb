# frozen_string_literal: true

module PumaTuner
  module Export
    # Our figures through the OpenTelemetry SDK that an app has, as observable instruments, named after its conventions.
    #
    #   require "puma_tuner/probe"                                  # in puma.rb
    #   on_worker_boot { PumaTuner::Export::OpenTelemetry.register } # after the app has configured its SDK
    #
    # Every process with an SDK sends for itself, so each tells of **itself** only: the backend adds up. Each point
    # names its process: in every worker of a preloaded app the SDK's resource has the master's `process.pid`, and a
    # backend would take all of them for one stream. There is no observable histogram in OpenTelemetry, and what Ruby's
    # callbacks tell has the attributes of its instrument, always the same, so percentiles and endpoints are to be had
    # by Prometheus' text only, which the Collector's Prometheus receiver reads.
    module OpenTelemetry
      # The times are sums over all requests of this process: name, unit, description, part of the budget; nil is the
      # whole duration.
      TIMES = {nil => "duration", **Probe::Parts::REQUEST.to_h { |part| [part, "time.#{part}"] }}.freeze

      # name => [:counter or :gauge, unit, description, key of ProcessGauges, factor]
      GAUGES = {
        "gc.count" => [:counter, "{collection}", "Garbage collections", :gc_count, 1],
        "gc.time" => [:counter, "s", "Time in garbage collection", :gc_ns, 1e-9],
        "allocated_objects" => [:counter, "{object}", "Objects made", :allocated_count, 1],
        "yjit.code_region.size" => [:gauge, "By", "Machine code made by YJIT", :code_bytes, 1],
        "yjit.alloc.size" => [:gauge, "By", "What YJIT keeps beside it", :compiler_bytes, 1],
        "yjit.compiled_iseqs" => [:gauge, "{iseq}", "Methods and blocks that YJIT has compiled", :compiled_count, 1],
        "yjit.invalidations" => [:counter, "{invalidation}", "Compiled code that was thrown away",
          :invalidated_count, 1]
      }.freeze

      # All instruments are asked at once, so one reading serves them all for as long.
      FRESH_S = 1

      # The figures of one process. gauges: of ProcessGauges; memory: of Processes; counts and sums: of all requests,
      # nil: unknown
      Told = Data.define(:taken_s, :gauges, :memory, :numbers)
      private_constant :Told

      class << self
        # @param provider [OpenTelemetry::SDK::Metrics::MeterProvider, nil] nil: the global one
        # @return [void]
        # @raise [UsageError] when there is no SDK for metrics
        def register(provider = nil)
          ensure_sdk
          Probe.start(way_in: "export", directory: ENV["PUMA_TUNER_DIRECTORY"])
          meter = (provider || ::OpenTelemetry.meter_provider).meter("puma_tuner", version: VERSION)
          @absolute = counters_are_absolute?
          instruments.each do |kind, name, unit, description, number|
            create(meter, kind, "puma_tuner.#{name}", unit, description, number)
          end
        end

        # By the specification a callback tells the whole count. Some versions of the SDK (0.22 of the gem) add up what
        # callbacks tell, and would show a count that grows by itself; with delta temporality they send each whole count
        # as what came since the last one. So it is tried out.
        #
        # @api private
        # @return [Boolean]
        def counters_are_absolute?
          sdk = ::OpenTelemetry::SDK::Metrics
          reader = sdk::Export::InMemoryMetricPullExporter.new
          provider = sdk::MeterProvider.new
          provider.add_metric_reader(reader)
          counts = [5, 7]
          provider.meter("puma_tuner.trial").create_observable_counter("trial", callback: -> { counts.shift || 7 })
          2.times { reader.pull }
          told = reader.metric_snapshots.last
          told.data_points.last.value == ((told.aggregation_temporality == :delta) ? 2 : 7)
        end

        private

        def ensure_sdk
          require "opentelemetry-metrics-sdk"
        rescue LoadError
          raise UsageError, "opentelemetry-metrics-sdk is not in this bundle; " \
            "add it to the Gemfile, or use PumaTuner.export with an address instead"
        end

        # Where such counters would be wrong, a gauge tells the same number; backends take rates of it, too.
        def create(meter, kind, name, unit, description, number)
          creator = (kind == :counter && @absolute) ? :create_observable_counter : :create_observable_gauge
          instrument = meter.public_send(creator, name, callback: number.to_proc, unit:, description:)
          instrument.add_attributes(attributes) if instrument.respond_to?(:add_attributes)
        end

        # In single mode there is no index. The recording would know it, too, and is not to begin before its server.
        def attributes
          {"process.pid" => Process.pid, "puma_tuner.worker" => Probe::Puma.worker&.first&.to_s}.compact
        end

        def instruments
          [
            [:counter, "request.count", "{request}", "Requests that have ended", -> { told.numbers[0] }],
            *TIMES.map { |part, name|
              [:counter, "request.#{name}", "s", "Where the duration of requests went", -> { seconds(part || :wall) }]
            },
            *GAUGES.map { |name, (kind, unit, description, key, factor)|
              [kind, name, unit, description, -> { told.gauges[key]&.*(factor) }]
            },
            *{rss_bytes: "resident", pss_bytes: "pss"}.map { |key, name|
              [:gauge, "memory.#{name}", "By", "Memory of this process", -> { told.memory[key] }]
            }
          ]
        end

        def told
          now_s = Clock.now_s
          return @told if @told && now_s - @told.taken_s < FRESH_S
          @told = Told.new(taken_s: now_s, gauges: ProcessGauges.new("", server: nil, worker_index: nil).read,
            memory: Probe::Processes.memory(Process.pid), numbers: requests)
        end

        # @return [Array<Integer, nil>] counts, then sums
        def requests
          numbers = []
          reader = LedgerReader.open(Probe.recording.ledger_path)
          reader.look&.each_row { |kind, _, index, _| numbers << reader.numbers(index) if kind == :request }
          numbers.transpose.map { |all| all.sum unless all.include?(nil) }
        ensure
          reader&.close
        end

        # @return [Float, nil] nil where the part is unknown
        def seconds(part)
          told.numbers[Probe::Parts::COUNTS.size + Probe::Parts::SUMS.index(part)]&.fdiv(Units::NS_PER_S)
        end
      end
    end
  end
end
