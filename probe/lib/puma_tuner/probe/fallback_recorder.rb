# frozen_string_literal: true

module PumaTuner
  module Probe
    # Records without the extension what Ruby alone can tell: wall time, queue and CPU. The rest stays nil. A request
    # only counts; a thread writes the ledger as JSON, once a second while there is something new.
    class FallbackRecorder
      INTERVAL_S = 1

      # Writing takes at most one part of so many of a core: with much to write, the pauses are longer.
      PAUSE_RATIO = 20

      KNOWN = %i[wall queue cpu before_puma].freeze

      # @param path [String] of the ledger
      # @param facts [Hash] of Recording
      # @param endpoint [Endpoint]
      def initialize(path:, facts:, endpoint:)
        @path = path
        @endpoint = endpoint
        @facts = facts
        @began_at_ns = Clock.now_ns
        @works = {}
        @lock = Mutex.new
        @writing = Mutex.new
        @pid = Process.pid
        write
        start_writing
        at_exit { write if Process.pid == @pid }
      end

      # See Recorder.
      def begin(client)
        return false if Thread.current[:puma_tuner_began]
        Thread.current[:puma_tuner_began] = instant
        RequestStart.stamp(client)
        true
      rescue StandardError, ScriptError => error
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
      rescue StandardError, ScriptError => error
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
        add(:job, @endpoint.job_name(name), take_began, nil, nil)
      rescue StandardError, ScriptError => error
        Probe.fault("a job could not be recorded", error)
      end

      # The sums of one kind of work, and how often which bucket of a Histogram occurred; nil: a duration of 0. Counted
      # in place, as to make a Histogram anew for each request would cost it a millisecond.
      Work = Struct.new(:count, :stamped_count, :sums, :buckets) do
        def self.none(parts) = new(0, 0, Hash.new(0), parts.to_h { |part| [part, Hash.new(0)] })

        def add(numbers)
          self.count += 1
          self.stamped_count += 1 if numbers[:before_puma].positive?
          numbers.each do |name, ns|
            sums[name] += ns
            buckets[name]&.then { |counts| counts[ns.zero? ? nil : Probe::Histogram.bucket_of(ns)] += 1 }
          end
        end

        def copy = Work.new(count, stamped_count, sums.dup, buckets.transform_values(&:dup))

        def histogram(part)
          counts = buckets[part]&.dup or return
          zero_count = counts.delete(nil) || 0
          in_order = counts.keys.sort.map { |bucket| [bucket, counts[bucket]].freeze } # to sort pairs takes longer
          Probe::Histogram.new(zero_count:, counts: in_order.freeze)
        end
      end

      # Not every platform has a CPU clock for threads, and with M:N threads the clock is that of whichever native
      # thread they are on. In both cases the part stays unknown.
      CPU_CLOCK = if defined?(Process::CLOCK_THREAD_CPUTIME_ID) && !ENV["RUBY_MN_THREADS"].to_i.positive?
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
          work = @works[[kind, name]] ||= Work.none(KNOWN & Parts::DISTRIBUTIONS)
          work.add(numbers)
          @news = true
        end
      end

      # A forked child has no such thread: it begins a recording of its own. So Puma need not warn of it; and requests
      # need not wait for more than the shortest slice.
      def start_writing
        thread = Thread.new do
          pause_s = INTERVAL_S
          loop { sleep(pause_s) && pause_s = write_news }
        end
        thread.name = "puma_tuner fallback"
        thread.priority = -3
        thread.thread_variable_set(:fork_safe, true)
      end

      # @return [Numeric] seconds until it may be done again
      def write_news
        began_ns = instant.compact.last
        write if @news
        [INTERVAL_S, (instant.compact.last - began_ns) * PAUSE_RATIO / 1e9].max
      end

      # Never in a request. One thread writes at a time.
      def write
        @writing.synchronize do
          @news = false
          now = ledger
          AtomicFile.write(@path, JSON.generate(Written.document([now]).merge(pid: @pid, facts: now.facts)))
        end
      rescue SystemCallError
        nil # the command has gone, and its folder with it; or the place is full
      rescue => error
        Probe.fault("the figures could not be written", error)
      end

      def ledger
        Ledger.new(pid: @pid, facts: JSON.parse(JSON.generate(@facts)), began_at_ns: @began_at_ns, traces: {},
          entries: copies.to_h { |key, work| [key, entry(key, work)] }, cycles_count: 0,
          cost_per_cycle_ns: 0, cost_per_request_ns: 0,
          process_cpu_ns: Clock.cpu_ns, gc_count: GC.count,
          unobserved_threads_count: 0, unnamed_count: 0)
      end

      # One at a time, so that no request waits for the copies of all.
      def copies
        @lock.synchronize { @works.to_a }.map { |key, work| [key, @lock.synchronize { work.copy }] }
      end

      def entry((kind, name), work)
        counts = {all: work.count, stamped: work.stamped_count}
        Ledger::Entry.new(kind:, name:, counts: Parts::COUNTS.map { |name| counts[name] },
          sums: Parts::SUMS.map { |part| work.sums[part] if known?(part) },
          histograms: Parts::DISTRIBUTIONS.map { |part| work.histogram(part) }, blames: {})
      end

      def known?(part) = KNOWN.include?(part) && (part != :cpu || CPU_CLOCK)
    end
  end
end
