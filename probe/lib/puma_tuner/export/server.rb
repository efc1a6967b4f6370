# frozen_string_literal: true

module PumaTuner
  module Export
    # All processes of one server, as whoever scrapes sees them. They are read once a second at most, so that many who
    # scrape cost no more than one.
    class Server
      FRESH_S = 1.0

      # @param ledgers [Probe::Ledgers]
      # @param leader_pid [Integer]
      # @param labels [Hash{Symbol => String}] that every sample gets
      # @param endpoints_max [Integer] see Settings
      def initialize(ledgers, leader_pid:, labels:, endpoints_max:)
        @reading = Reading.new(ledgers, leader_pid:, endpoints_max:)
        @directory = ledgers.directory
        @labels = labels
        @taken_s = nil
      end

      # @return [String] see Text
      def text
        return @text if @taken_s && Clock.now_s - @taken_s < FRESH_S
        began_s = Clock.now_s
        families = Families.new(@reading.take).call
        @taken_s = Clock.now_s
        @text = Text.of([*families, *recommended, *own(@taken_s - began_s)], @labels)
      end

      private

      # The process that forecasts has left it (Probe::Forecasting): the settings that the server's own lines tell.
      def recommended
        forecast = Probe::Recommendation.read(@directory)
        settings = forecast&.settings
        [
          family("recommended_workers", "gauge", "Workers that the forecast recommends, 1 for a single process; " \
            "absent while there is no forecast.", settings&.workers_count),
          family("recommended_threads", "gauge", "Threads for each worker that the forecast recommends.",
            settings&.threads_count),
          family("forecast_timestamp_seconds", "gauge", "When that forecast was made.",
            (forecast.made_at_s if settings))
        ]
      end

      def own(read_s)
        [
          family("exporter_read_seconds", "gauge", "How long reading all ledgers took, this time.", read_s),
          family("exporter_cpu_seconds_total", "counter", "CPU time of the exporter's own process.",
            Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)),
          family("exporter_resident_memory_bytes", "gauge", "Resident memory of the exporter's own process.",
            Probe::Processes.memory(Process.pid)[:rss_bytes])
        ]
      end

      def family(name, type, help, number) = Family.of(name, type, help, {{} => number})
    end
  end
end
