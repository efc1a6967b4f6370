# frozen_string_literal: true

module PumaTuner
  # Exports what a running server's ledgers hold to Prometheus and OpenTelemetry.
  #
  # It stands beside the stages: it reads the ledgers that the probe writes, and what each process says of its own heap
  # and compiler. It needs no gem.
  #
  # These are its parts. Each worker writes a file of gauges now and then (ProcessGauges). The process that leads the
  # server has a process of its own started for the rest (Supervisor, Exporter), which reads all ledgers and gauges when
  # it is asked (Server, Reading, LedgerReader), makes families of them (Families) and answers (Text, HttpServer): none
  # of it takes the GVL of an app. PrometheusClient puts the same text among an app's own; OpenTelemetry hands what one
  # process knows of itself to the app's SDK.
  module Export
    # The version of the metrics' names, labels and meanings; `puma_tuner fleet` reads no other.
    SCHEMA = "1"

    # These labels tell our samples apart, or are put on every sample by Prometheus; nobody else may use them.
    OWN_LABELS = %w[endpoint kind part state worker le schema version ruby puma complete].freeze
    TAKEN_LABELS = [*OWN_LABELS, "job", "instance"].freeze

    PumaTuner.autoload_folder(self, "#{__dir__}/export", families: %i[Families Family],
      reading: %i[Reading Work])

    # labels: put on every sample, names to values; endpoints_max: names kept apart, beyond which "(other)" counts them
    # interval_s: between two of a worker's files of gauges
    Settings = Data.define(:labels, :endpoints_max, :interval_s)

    DEFAULTS = Settings.new(labels: {}.freeze, endpoints_max: 200, interval_s: 10)

    class << self
      # What comes from a process without a locale is US-ASCII by name, whatever letters it has.
      #
      # @param value [#to_s] of a label
      # @return [String] a plain one, in UTF-8
      def utf8(value)
        text = String.new(value.to_s)
        plain = [Encoding::UTF_8, Encoding::US_ASCII, Encoding::BINARY].include?(text.encoding)
        return text.force_encoding(Encoding::UTF_8).scrub if plain
        text.encode(Encoding::UTF_8, invalid: :replace, undef: :replace)
      end

      # Looks at every Puma server of this process and of those forked from it, and answers at the address.
      #
      # @param address [String, nil] see Address; nil: nobody but this server's processes
      # @param settings [Settings]
      # @return [void]
      def start(address:, settings: DEFAULTS)
        # First, as what is kept of a mistake would stand in the way of a call that can be.
        address &&= Address.parse(address)
        first = @settings.nil?
        @settings = settings
        @address = address
        return unless first
        Probe.start(way_in: "export", directory: ENV["PUMA_TUNER_DIRECTORY"])
        Probe.at_start { |server| tell_gauges(server) }
        Probe::Sidecars.add("exporter") { |ledgers, leader| supervisor(ledgers, leader) }
        Probe::Forecasting.start
      end

      # @return [Address, nil] where this server's processes can ask the exporter; nil where there is none
      def address
        @address || (private_address(Probe.recording.ledgers) if @settings && Probe.recording.any?)
      end

      private

      def private_address(ledgers)
        Address.new(kind: "unix", host_or_path: File.join(File.expand_path(ledgers.directory), "exporter.sock"),
          port: nil)
      end

      def tell_gauges(server)
        ProcessGauges.new(Probe.recording.ledgers.directory, server:, worker_index: Probe.recording.worker_index)
          .start(@settings.interval_s)
      end

      # @return [Probe::Supervisor]
      def supervisor(ledgers, leader)
        Exporter.supervisor({**leader, directory: File.expand_path(ledgers.directory), labels: @settings.labels,
          address: (@address || private_address(ledgers)).to_s, endpoints_max: @settings.endpoints_max})
      end
    end
  end
end
