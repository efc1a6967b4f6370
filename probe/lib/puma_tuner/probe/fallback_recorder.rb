# frozen_string_literal: true

module PumaTuner
  module Probe
    # Records without the extension what Ruby alone can tell: wall time, queue and CPU. The rest stays nil. Its ledger
    # is written as JSON, at most once a second.
    class FallbackRecorder
      INTERVAL_NS = 1_000_000_000
      KNOWN = %i[wall queue cpu before_puma].freeze

      # @param path [String] of the ledger
      # @param facts [Hash] of Recording
      # @param endpoint [Endpoint]
      def initialize(path:, facts:, endpoint:)
        @path = path
        @endpoint = endpoint
        @facts = facts
        @began_at_ns = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
        @works = {}
        @lock = Mutex.new
        @writing = Mutex.new
        @written_ns = 0
        @pid = Process.pid
        write
        at_exit { write if Process.pid == @pid }
      end

      # See Recorder.
      def begin(client)
        return false if Thread.current[:puma_tuner_began]
        Thread.current[:puma_tuner_began] = instant
        RequestStart.stamp(client)
        true
      rescue => error
        Probe.fault("a request could not be recorded", error)
        true
      end

      # See Recorder.
      def finish(client)
        queued_ns = client.puma_tuner_queued_ns
        client.puma_tuner_queued_ns = nil
        began = take_began
        if client.env.key?(Puma::APP_WAS_CALLED)
          add(:request, @endpoint.name(client.env), began, queued_ns, client.puma_tuner_before_puma_ns)
        end
        client.puma_tuner_before_puma_ns = nil
      rescue => error
        Probe.fault("a request could not be recorded", error)
      end

      # See Recorder.
      def job(name)
        return yield if Thread.current[:puma_tuner_began]
        Thread.current[:puma_tuner_began] = instant
        begin
          yield
        ensure
          finish_job(name)
        end
      end

      private

      def finish_job(name)
        add(:job, name.to_s, take_began, nil, nil)
      rescue => error
        Probe.fault("a job could not be recorded", error)
      end

      # The sums of one kind of work.
      Work = Struct.new(:count, :stamped_count, :sums, :values) do
        def add(numbers)
          self.count += 1
          self.stamped_count += 1 if numbers[:before_puma].positive?
          numbers.each do |name, ns|
            sums[name] += ns
            values[name] = values[name] + Probe::Histogram.of([ns]) if values.key?(name)
          end
        end
      end

      # Not every platform has a CPU clock for threads, and with M:N threads the clock is that of whichever native
      # thread they are on. In both cases the part stays unknown.
      CPU_CLOCK = if defined?(Process::CLOCK_THREAD_CPUTIME_ID) && ENV["RUBY_MN_THREADS"] != "1"
        Process::CLOCK_THREAD_CPUTIME_ID
      end

      def instant = [GvlClock.now_ns, CPU_CLOCK && Process.clock_gettime(CPU_CLOCK, :nanosecond)]

      def take_began = Thread.current[:puma_tuner_began].tap { Thread.current[:puma_tuner_began] = nil }

      def add(kind, name, began, queued_ns, before_puma_ns)
        now = instant
        queue_ns = queued_ns ? [began.first - queued_ns, 0].max : 0
        numbers = {wall: now.first - began.first + queue_ns, queue: queue_ns,
                   cpu: CPU_CLOCK ? now.last - began.last : 0, before_puma: before_puma_ns || 0}
        @lock.synchronize do
          work = @works[[kind, name]] ||= Work.new(0, 0, Hash.new(0),
            (KNOWN & Parts::DISTRIBUTIONS).to_h { |part| [part, Probe::Histogram.empty] })
          work.add(numbers)
        end
        write if now.first - @written_ns > INTERVAL_NS
      end

      # One thread writes at a time; another that comes meanwhile leaves it to that one.
      def write
        return unless @writing.try_lock
        begin
          @written_ns = GvlClock.now_ns
          now = ledger
          AtomicFile.write(@path, JSON.generate(Written.document([now]).merge(pid: @pid, facts: now.facts)))
        rescue SystemCallError
          nil # the command has gone, and its folder with it; or the place is full
        ensure
          @writing.unlock
        end
      end

      def ledger
        Ledger.new(pid: @pid, facts: JSON.parse(JSON.generate(@facts)), began_at_ns: @began_at_ns, traces: {},
          entries: @lock.synchronize { @works.to_h { |key, work| [key, entry(key, work)] } }, cycles_count: 0,
          cost_per_cycle_ns: 0, cost_per_request_ns: 0,
          process_cpu_ns: Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID, :nanosecond), gc_count: GC.count,
          unobserved_threads_count: 0, unnamed_count: 0)
      end

      def entry((kind, name), work)
        counts = {all: work.count, stamped: work.stamped_count}
        Ledger::Entry.new(kind:, name:, counts: Parts::COUNTS.map { |name| counts[name] },
          sums: Parts::SUMS.map { |part| work.sums[part] if known?(part) },
          histograms: Parts::DISTRIBUTIONS.map { |part| work.values[part] }, blames: {})
      end

      def known?(part) = KNOWN.include?(part) && (part != :cpu || CPU_CLOCK)
    end
  end
end
