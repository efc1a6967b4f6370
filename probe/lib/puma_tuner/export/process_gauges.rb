# frozen_string_literal: true

require "json"

module PumaTuner
  module Export
    # Writes what only a process itself knows of its heap and its compiler into a small file beside its ledger, at an
    # interval, by a thread that sleeps all the time in between. Asking the processes when somebody scrapes would take a
    # signal, which the app may use, or a socket in each of them.
    class ProcessGauges
      EXTENSION = "gauges"

      # What in it is no number.
      VERSIONS = %w[ruby puma].freeze
      private_constant :VERSIONS

      # @param directory [String] of the ledgers
      # @param server [Puma::Server, nil]
      # @param worker_index [Integer, nil] nil in single mode
      def initialize(directory, server:, worker_index:)
        @path = File.join(directory, "#{Process.pid}.#{EXTENSION}")
        @server = server
        @worker_index = worker_index
      end

      # @param interval_s [Numeric]
      def start(interval_s)
        @interval_s = interval_s
        thread = Thread.new { loop { write && sleep(interval_s) } }
        thread.name = "puma_tuner gauges"
      end

      # Replaces the file in one step.
      # @return [true]
      def write
        AtomicFile.write(@path, JSON.generate(read))
        true
      rescue SystemCallError => error
        unless @failed
          Probe.say("gauges can't be written (#{error.message}); memory and time are still exported")
        end
        @failed = true
      end

      # @return [Hash] of Probe::Gauges and more; numbers that nobody knows are left out
      def read
        gauges = Probe::Gauges.read.except(:yjit_bytes)
        {pid: Process.pid, worker_index: @worker_index, at_s: Clock.now_s, interval_s: @interval_s,
         threads_count: @server&.max_threads, live_slots_count: GC.stat(:heap_live_slots),
         major_gc_count: GC.stat(:major_gc_count), ruby: RUBY_VERSION, puma: Probe::Puma.version, **gauges,
         **yjit(gauges), **pool}.compact
      end

      private

      # All other figures of requests and pool threads are written when a request ends, so they are silent where none
      # does. Puma counts threads as free that it has yet to start; it has no pool before it serves.
      def pool
        return {} unless @server.respond_to?(:pool_capacity) && (free_count = @server.pool_capacity)
        {busy_threads_count: [@server.max_threads - free_count, 0].max, queued_count: @server.backlog}
      end

      # Options on the command line of `ruby` itself are not seen, as Puma writes over it.
      def yjit(gauges)
        return {} unless defined?(RubyVM::YJIT)
        return {yjit_enabled: 0} unless RubyVM::YJIT.enabled?
        {yjit_enabled: 1, limit_bytes: Probe::YjitLimit.bytes,
         limited_bytes: Probe::YjitLimit.counted(*gauges.values_at(:code_bytes, :compiler_bytes))}
      end

      class << self
        # @param directory [String]
        # @param now_s [Float]
        # @return [Array<Hash{String => Object}>] of processes that live; those that fell silent for three of their
        #   intervals are left out, as nobody knows what they hold by now
        def read_all(directory, now_s: Clock.now_s)
          Dir[File.join(directory, "*.#{EXTENSION}")].sort.filter_map { |path| read_one(path, now_s) }
        end

        private

        def read_one(path, now_s)
          unless Probe::Processes.alive?(File.basename(path).to_i)
            File.unlink(path)
            return
          end
          gauges = JSON.parse(AtomicFile.read(path))
          return unless sound?(gauges) && gauges["pid"] == File.basename(path).to_i
          gauges if now_s - gauges.fetch("at_s") <= 3 * (gauges["interval_s"] || 10) + 1
        rescue SystemCallError, JSON::ParserError, KeyError
          nil # it has just ended, or begun
        end

        # Nothing of a damaged one is told: a scrape that fails for it would tell nothing of any process.
        def sound?(gauges)
          gauges.is_a?(Hash) && gauges.all? do |name, value|
            VERSIONS.include?(name) ? value.is_a?(String) && value.valid_encoding? : value.is_a?(Numeric)
          end
        end
      end
    end
  end
end
