# frozen_string_literal: true

require "time"

module PumaTuner
  module Top
    # One endpoint, or one kind of job, in the window.
    #
    # kind: "request" or "job"
    # p50_ns, p99_ns: of its requests_count, by a histogram (1.6%); budget: the sum over them
    # cause: a Statement, see Diagnosis: what most of the time goes to that it needs not; where nothing does, what it is
    #   spent on. nil where the parts are unknown
    EndpointStatus = Document.define(:kind, :name, :requests_count, :throughput_per_s, :p50_ns, :p99_ns, :budget,
      :cause, nested: {budget: Probe::Budget, cause: Statement})

    # One process that serves, in the window.
    #
    # pid: as it is counted where this was read
    # threads_count: its pool's most now; nil where that is not told; busy_mean: of its pool threads with a request, nil
    #   where parts are unknown; queued_mean: requests in Puma's queue (Little's law)
    # cpu_ratio: of one core, so 1.5 is a core and a half
    # code_bytes: machine code, by what is mapped; nil where this user may not look; yjit: "on", "off" or nil
    WorkerStatus = Document.define(:worker_index, :pid, :requests_count, :throughput_per_s, :threads_count, :busy_mean,
      :queued_mean, :cpu_ratio, :pss_bytes, :rss_bytes, :code_bytes, :yjit)

    # Threads of one name that serve no requests, of all processes together, in the window.
    #
    # cpu_ratio: of one core; made_wait_ns: how long requests and jobs waited for the GVL that these held
    ThreadStatus = Document.define(:name, :cpu_ratio, :made_wait_ns, :budget, nested: {budget: Probe::Budget})

    # What `puma_tuner top` itself took, as a share of one core: status_ratio to read and to show, outlook_ratio to
    # forecast, nil while nothing is.
    Cost = Document.define(:status_ratio, :outlook_ratio)

    # How a running server is, by two readings of it.
    #
    # at: ISO 8601, when the window ended, to the millisecond, as looks may follow each other closely
    # window_ns: how long it was
    # topology: as it runs; nil before any request; endpoints_count: all of them, also those without a row
    # throughput_per_s, p50_ns, p99_ns: of all requests; the latter nil without any
    # diagnosis: a Statement, see Diagnosis; outlook: nil while there is none; cost: nil where nobody measured it
    # recommendation: what the lines of the server itself recommend, too; nil where no forecast is made yet
    # why_not: why parts of the time are unknown; nil where they are not
    Status = Document.define(:at, :pid, :folder, :topology, :window_ns, :requests_count, :throughput_per_s, :p50_ns,
      :p99_ns, :diagnosis, :endpoints, :workers, :background, :outlook, :recommendation, :cost, :why_not,
      kind: :status, added: %i[recommendation],
      nested: {topology: Topology, diagnosis: Statement, endpoints: [EndpointStatus], workers: [WorkerStatus],
               background: [ThreadStatus], outlook: Outlook, recommendation: Probe::Recommendation, cost: Cost}) do
      # @param server [Server]
      # @param before [Reading]
      # @param after [Reading]
      # @return [Status] without outlook, recommendation and cost
      def self.of(server, before, after) = Window.new(server, before, after).status

      # @return [Array<EndpointStatus>] requests alone
      def requests = endpoints.select { |one| one.kind == "request" }
    end

    # What happened between two readings of a server.
    class Window
      # @param server [Server]
      # @param before [Reading]
      # @param after [Reading]
      def initialize(server, before, after)
        @server = server
        @before = before
        @after = after
        @account = Probe::Account.new(as_one(before, after), as_one(after, before))
        @ns = [after.at_ns - before.at_ns, 1].max
      end

      # @return [Status]
      def status
        latency = @account.endpoints.map(&:latency).reduce(:+)
        Status.new(at: Time.now.utc.iso8601(3), pid: @server.pid, folder: @server.folder&.scrub, topology:,
          window_ns: @ns, requests_count: requests_count(@account), throughput_per_s: per_s(requests_count(@account)),
          p50_ns: latency&.quantile_ns(0.5), p99_ns: latency&.quantile_ns(0.99),
          diagnosis: Diagnosis.of(@account.endpoints, threads_count: topology&.threads_count),
          endpoints: [*works(@account.endpoints, "request"), *works(@account.jobs, "job")].freeze,
          workers: @after.processes.map { |process| worker(process) }.freeze, background: background.freeze,
          outlook: nil, recommendation: nil, cost: nil,
          why_not: facts.filter_map { |one| one["why_not"] }.first)
      end

      private

      # All processes as one. What nobody has written meanwhile, such as most endpoints of a large app, need not be
      # subtracted.
      def as_one(reading, other)
        ledger = reading.ledgers.each_value.first or return {}
        {"all" => ledger.with(entries: reading.totals.reject { |key, entry| entry.equal?(other.totals[key]) })}
      end

      def facts = @facts ||= @after.processes.map { |process| @after.ledgers.fetch(process.path).facts }

      # By path of the ledger: as they are, where pools may be resized, or were when the processes began.
      def threads_counts
        @threads_counts ||= begin
          began = @after.processes.zip(facts).to_h { |process, one| [process.path, one["threads_count"]] }.compact
          began.merge(Probe::Resize.threads_counts(@after.processes.map(&:path)))
        end
      end

      # What most processes have, as one may try another number.
      def topology
        threads_count = threads_counts.values.tally.max_by(&:last)&.first or return
        Topology.from(@after.processes.map(&:worker_index).uniq.size, threads_count)
      end

      def per_s(count) = count.fdiv(@ns) * Units::NS_PER_S

      def requests_count(account) = account.endpoints.sum(&:requests_count)

      def works(works, kind)
        works.map do |work|
          EndpointStatus.new(kind:, name: work.name, requests_count: work.requests_count,
            throughput_per_s: per_s(work.requests_count), p50_ns: work.p50_ns, p99_ns: work.p99_ns,
            budget: work.budget, cause: Diagnosis.cause(work))
        end
      end

      def worker(process)
        facts = @after.ledgers.fetch(process.path).facts
        requests_count, queue_ns, = gained(process, :request)
        WorkerStatus.new(worker_index: process.worker_index, pid: process.pid, requests_count:,
          throughput_per_s: per_s(requests_count), threads_count: threads_counts[process.path],
          busy_mean: (busy(process, threads_counts[process.path]) unless facts["why_not"]),
          queued_mean: queue_ns.fdiv(@ns), cpu_ratio: cpu_ratio(process), **process.memory,
          code_bytes: process.code_bytes, yjit: yjit(facts))
      end

      # Adds up numbers alone: histograms of each process would take ten times as long.
      #
      # @param kind [Symbol] of entries
      # @return [Array<Integer>] how many, and nanoseconds in the queue and of wall time
      def gained(process, kind)
        earlier = @before.ledgers[process.path]&.entries || {}
        @after.ledgers.fetch(process.path).entries.each_value.with_object([0, 0, 0]) do |entry, sums|
          before = earlier[[entry.kind, entry.name]]
          next if entry.kind != kind || entry.equal?(before)
          numbers_of(entry, before).each_with_index { |number, index| sums[index] += number }
        end
      end

      # Places in an entry's sums.
      QUEUE = Probe::Parts::SUMS.index(:queue)
      WALL = Probe::Parts::SUMS.index(:wall)
      private_constant :QUEUE, :WALL

      def numbers_of(entry, before)
        now, then_ = [entry, before].map do |one|
          one ? [one.counts.first, one.sums[QUEUE].to_i, one.sums[WALL].to_i] : [0, 0, 0]
        end
        now.zip(then_).map { |one, two| [one - two, 0].max }
      end

      # A thread's time is added up once a second, or when its request ends: never more than there are threads.
      def busy(process, threads_count)
        [gained(process, :pool_thread).last.fdiv(@ns), threads_count].compact.min
      end

      def cpu_ratio(process)
        earlier = @before.processes.find { |one| one.path == process.path }&.cpu_ns || 0
        (process.cpu_ns - earlier).fdiv(@ns) if process.cpu_ns
      end

      def yjit(facts)
        enabled = facts.dig("server", "yjit_enabled")
        enabled ? "on" : ("off" unless enabled.nil?)
      end

      def background
        made = Hash.new(0)
        [*@account.endpoints, *@account.jobs].flat_map(&:blame).each do |blame|
          made[blame.holder] += blame.wait_ns if blame.kind == "thread"
        end
        @account.background.map do |thread|
          ThreadStatus.new(name: thread.name, cpu_ratio: thread.budget.on_core_ns&.fdiv(@ns),
            made_wait_ns: made[thread.name], budget: thread.budget)
        end
      end
    end
  end
end
