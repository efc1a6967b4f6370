# frozen_string_literal: true

module PumaTuner
  # What a running server's ledgers hold, for Prometheus and OpenTelemetry.
  #
  # Beside the stages: it reads what measure's probe has left behind, and what each process says of its own heap and compiler.
  # All of it runs in the serving processes, so it needs no gem.
  #
  # Who does what: each worker writes a file of gauges now and then (ProcessGauges); the process that leads the server, which
  # serves no requests in a cluster, reads all ledgers and gauges when it is asked (Reading), makes families of them
  # (Families) and answers (HttpServer, Text). PrometheusClient and OpenTelemetry hand the same to libraries that the app has.
  module Export
    # Of the metrics' names, labels and meanings; `puma_tuner fleet` reads no other.
    SCHEMA = "1"

    # What tells our samples apart, and what Prometheus puts on every sample; nobody else may use them.
    OWN_LABELS = %w[endpoint kind part state worker le schema version ruby puma complete].freeze
    TAKEN_LABELS = [*OWN_LABELS, "job", "instance"].freeze

    autoload :Address, "puma_tuner/export/address"
    autoload :AdmittedNames, "puma_tuner/export/admitted_names"
    autoload :Bounds, "puma_tuner/export/bounds"
    autoload :Buckets, "puma_tuner/export/buckets"
    autoload :Families, "puma_tuner/export/families"
    autoload :Family, "puma_tuner/export/family"
    autoload :HttpServer, "puma_tuner/export/http_server"
    autoload :Leader, "puma_tuner/export/leader"
    autoload :LedgerReader, "puma_tuner/export/ledger_reader"
    autoload :OpenTelemetry, "puma_tuner/export/open_telemetry"
    autoload :ProcessFamilies, "puma_tuner/export/process_families"
    autoload :ProcessGauges, "puma_tuner/export/process_gauges"
    autoload :PrometheusClient, "puma_tuner/export/prometheus_client"
    autoload :Reading, "puma_tuner/export/reading"
    autoload :Server, "puma_tuner/export/server"
    autoload :Text, "puma_tuner/export/text"

    # labels: put on every sample, names to values; endpoints_max: names kept apart, beyond which "(other)" counts them
    # interval_s: between two of a worker's files of gauges
    Settings = Data.define(:labels, :endpoints_max, :interval_s)

    DEFAULTS = Settings.new(labels: {}.freeze, endpoints_max: 200, interval_s: 10)

    class << self
      # @return [Settings] as they were given, or the defaults
      def settings = @settings || DEFAULTS

      # Looks at every Puma server of this process and of those forked from it, and answers at the address.
      #
      # @param address [String, nil] see Address; nil: nothing of ours listens
      # @param settings [Settings]
      # @return [void]
      def start(address:, settings: DEFAULTS)
        @settings = settings
        address &&= Address.parse(address)
        Probe.start(way_in: "export", directory: ENV["PUMA_TUNER_DIRECTORY"])
        first = !@listening
        Probe.at_start { |server| serving_process_starts(server) } if first
        Leader.at_start { |leader_pid| listen(leader_pid) } if first
        @listening = [address]
      end

      # @return [Server] of the server that this process belongs to
      def server
        @server = nil if @server_pid != Process.pid
        @server_pid = Process.pid
        @server ||= Server.new(Probe.recording.ledgers, leader_pid: Probe.recording.leader_pid, settings:)
      end

      private

      def serving_process_starts(server)
        @http&.forked
        ProcessGauges.new(Probe.recording.ledgers.directory, server:, worker_index: Probe.recording.worker_index).start(settings.interval_s)
      end

      # What goes wrong here must not reach the app, which then serves without us.
      def listen(leader_pid)
        address = @listening&.first or return
        server = Server.new(Probe::Ledgers.of(directory: ENV["PUMA_TUNER_DIRECTORY"], leader_pid:), leader_pid:, settings:)
        @http = HttpServer.new(address, Text.method(:of), server).tap(&:start)
      rescue => error
        Probe.say("nothing can be exported at #{address} (#{error.class}: #{error.message})")
      end
    end
  end
end
