# frozen_string_literal: true

module PumaTuner
  module Export
    # All processes of one server, as whoever scrapes sees them. Any of them can ask, any thread, and as often as it likes:
    # it is looked at once a second at most, so that many who scrape cost no more than one.
    class Server
      FRESH_S = 1.0

      # @param ledgers [Probe::Ledgers]
      # @param leader_pid [Integer]
      # @param settings [Settings]
      def initialize(ledgers, leader_pid:, settings: DEFAULTS)
        @reading = Reading.new(ledgers, leader_pid:, endpoints_max: settings.endpoints_max)
        @settings = settings
        @lock = Thread::Mutex.new
        @taken_s = nil
      end

      # @return [Hash{Symbol => String}] that every sample gets
      def labels = @settings.labels

      # @return [Array<Family>] some without samples
      def families
        @lock.synchronize do
          break @families if @taken_s && now_s - @taken_s < FRESH_S
          began_s = now_s
          @reading.take
          families = Families.new(@reading).call
          @taken_s = now_s
          @families = [*families, duration(@taken_s - began_s)].freeze
        end
      end

      # @param format [#call] families and the labels of all, to text
      # @return [String] made once for each reading, whoever asks how often
      def text(format)
        current = families
        @lock.synchronize do
          @text = format.call(current, labels) unless @text_of.equal?(current)
          @text_of = current
          @text
        end
      end

      private

      def duration(seconds)
        Family.new(name: "puma_tuner_exporter_read_seconds", type: "gauge", help: "How long reading all ledgers took, this time.", samples: {{} => seconds})
      end

      def now_s = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end
end
