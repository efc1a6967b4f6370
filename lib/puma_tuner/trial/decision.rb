# frozen_string_literal: true

module PumaTuner
  module Trial
    # Tells whether a trial has to end now, as it does harm or as it can't be judged any more: a pure function of the
    # plan and the readings so far. Each rule asks whether the canary is worse off than its fellows in the same seconds,
    # so that what hits all of them (a deploy, a burst) is not taken for its fault. Where all workers have the number,
    # they are held against what was before, which is weaker.
    class Decision
      # The canary's requests beyond so many times the p99 of its fellows, of whom one in a hundred is beyond one p99:
      # when they are surely more than this share, people notice. Judgements: half as much again is seen in any chart,
      # and a fiftieth is twice what would be there without any difference.
      HARM_RATIO = 1.5
      HARM_SHARE = 0.02
      REQUESTS_MIN = 100
      SURE_RATIO = 0.99

      # So few errors happen anyway. It is looked each second, and so the evidence must be of a kind that does not come
      # by looking often: chance gives so much in one period of 100 at most. By a p-value of 1%, which was rejected,
      # 60 errors that hit three workers alike end 2.4 of 100 periods, and so a quarter of trials with twelve.
      ERRORS_MIN = 3
      ERRORS_EVIDENCE = 100

      # Waits for a connection of a pool, of all time of the canary's requests, beyond those of its fellows.
      STARVED_RATIO = 0.05
      STARVED_REQUESTS_MIN = 20

      # The share of the control group's memory beyond which the kernel may end a process any time.
      MEMORY_RATIO = 0.95

      # For so many looks in a row a queue has to be longer than the threads that serve it, and so many there have to be
      # before requests count as slow: connections that are kept alive stay with a worker for some seconds, so that one
      # may have more of them than its fellows for as long, whatever its threads. Half of a short period is enough.
      LASTING_LOOKS = 10

      # So many are enough of a queue that grows meanwhile by as much as there are threads: it would not end by itself.
      GROWING_LOOKS = 6

      # For so many looks a worker may take to obey or to tell again, and Puma to count a thread out.
      LOOKS_MAX = 8

      # What it may answer.
      KINDS = %i[workers_replaced memory silent disobeyed miscounted queue errors starved_pool slow few_requests].freeze

      class << self
        # @param plan [Plan]
        # @param readings [Array<Reading>] so far
        # @param before [Array<WorkerReading>, nil] where all workers have the number: what they did before
        # @return [Statement, nil] why the trial ends; nil: it goes on
        def of(plan, readings, before: nil) = new(plan, readings, before:).call

        # A trial that nothing ended says that there is no harm only where harm could have been seen.
        #
        # @param plan [Plan]
        # @param readings [Array<Reading>] all of them
        # @return [Statement, nil] that there were too few requests on either side
        def few(plan, readings)
          before, after = readings.empty? ? [0, 0] : new(plan, readings).requests_counts
          return if [before, after].min >= REQUESTS_MIN
          Statement.of(:few_requests, before:, after:, needed: REQUESTS_MIN)
        end

        # @return [Array<WorkerReading>] what the canary of the last period was held against
        def baseline(plan, readings) = readings.empty? ? [] : new(plan, readings).baseline
      end

      def initialize(plan, readings, before: nil)
        @plan = plan
        @readings = readings
        @before = before
        @last = readings.last
        @period = plan.period_at(@last.since_s) || plan.periods_count - 1
        @canaries = plan.all? ? plan.pids : [plan.canary(@period)].compact
      end

      # @return [Statement, nil]
      def call
        replaced || short_of_memory || silent || (disobeyed || miscounted || queue || harm if @canaries.any?)
      end

      # @return [Array(Integer, Integer)] of the baseline, of the canaries, in the looks that count
      def requests_counts = [baseline, counted].map { |looks| looks.sum(&:requests_count) }

      # @return [Array<WorkerReading>] what the canary is held against: its fellows in the same seconds; a single
      #   process itself, in the last period before with what is configured
      def baseline = @baseline ||= @before || (@plan.alone? ? earlier : fellows)

      private

      def earlier
        period = (@period - 1).downto(0).find { |one| @plan.canary(one).nil? }
        period ? @plan.counted(@readings, period).flat_map(&:workers) : []
      end

      def fellows
        @plan.counted(@readings, @period).flat_map { |reading| reading.workers_of(@plan.pids - @canaries) }
      end

      def replaced
        there = @last.workers.map(&:pid)
        gone, come = (@plan.pids - there).size, (there - @plan.pids).size
        Statement.of(:workers_replaced, gone:, come:) if gone + come > 0
      end

      def short_of_memory
        return unless @plan.memory_limit_bytes && @last.memory_bytes
        share = @last.memory_bytes.fdiv(@plan.memory_limit_bytes)
        Statement.of(:memory, share:) if share > MEMORY_RATIO
      end

      # A look alone is missed where a disk is full for a moment. A process that tells something now and then is not
      # judged any more than one that tells nothing.
      def silent
        late = @readings.last(2 * LOOKS_MAX)
        Statement.of(:silent) if @plan.pids.any? { |pid| late.count { |look| look.worker(pid)&.silent? } >= LOOKS_MAX }
      end

      # @return [Array<Array<WorkerReading>>] the canaries', newest look last, of this period alone
      def looks
        @looks ||= @readings.select { |reading| @plan.period_at(reading.since_s) == @period }
          .map { |reading| reading.workers_of(@canaries) }.reject(&:empty?)
      end

      # There is one each second.
      def lasting(count, of_s: @plan.period_s) = [count, (of_s / 2.0).ceil].min

      def lately(count) = (looks.last(count) if looks.size >= count)

      # @return [WorkerReading, nil] the newest of a process for which it holds in each of these looks
      def always(late)
        late.last.find do |newest|
          late.all? { |look| look.any? { |one| one.pid == newest.pid && yield(one) } }
        end
      end

      def disobeyed
        late = lately(LOOKS_MAX) or return
        worker = always(late) { |look| look.threads_count != @plan.threads_count } or return
        Statement.of(:disobeyed, why_not: worker.why_not)
      end

      def miscounted
        late = lately(LOOKS_MAX) or return
        worker = always(late) { |look| look.spawned_count != look.live_count } or return
        Statement.of(:miscounted, spawned: worker.spawned_count, live: worker.live_count)
      end

      # Connections that are kept alive stay with a worker, so that chance may ask the canary for more than its fellows.
      # A queue is its fault only where it does not serve more than they do, either.
      def queue
        late = looks_at_queue or return
        return unless late.all? { |look| look.sum(&:queued_count) > look.sum(&:threads_count) }
        usual = before? ? queued_before : mean(of_fellows(late.size), &:queued_count)
        queued = late.map { |look| mean(look, &:queued_count) }
        return if queued.min <= 2 * usual || served_more?(late)
        Statement.of(:queue, queued: queued.last.round, usual:)
      end

      # @return [Array<Array<WorkerReading>>, nil] the canaries': of a queue that grows fewer than of one that is long
      def looks_at_queue
        few = lately(lasting(GROWING_LOOKS)) or return
        growing?(few) ? few : lately(lasting(LASTING_LOOKS))
      end

      # @return [Boolean] whether the queue is by as much longer in the second half than in the first
      def growing?(late)
        lengths = late.map { |look| mean(look, &:queued_count) }
        before, after = [lengths.first(late.size / 2), lengths.last(late.size / 2)].map { |half| mean(half, &:itself) }
        after - before >= @plan.threads_count
      end

      # Whether it is held against what was, and not against what is beside it.
      def before? = @plan.alone? || @plan.all?

      # @param late [Array<Array<WorkerReading>>] the canaries'
      # @return [Boolean] whether each served more in a look than others did, who did the same for as long
      def served_more?(late)
        others = before? ? baseline : of_fellows(late.size)
        others.any? && mean(late.flatten, &:requests_count) > mean(others, &:requests_count)
      end

      # @return [Array<WorkerReading>] of the last looks
      def of_fellows(count) = @readings.last(count).flat_map { |one| one.workers_of(@plan.pids - @canaries) }

      def mean(looks, &) = looks.sum(&).fdiv(looks.size)

      # The most that any had: of looks that follow each other for minutes, some have a queue.
      def queued_before = baseline.map(&:queued_count).max || 0

      def harm
        return if counted.empty? || baseline.empty?
        errors(counted) || starved(counted) || slow(counted)
      end

      # @return [Array<WorkerReading>] the canaries'
      def counted
        @counted ||= @plan.counted(@readings, @period).flat_map { |reading| reading.workers_of(@canaries) }
      end

      def sides(canary) = [baseline, canary]

      def errors(canary)
        errors, requests = %i[errors_count requests_count].map do |name|
          sides(canary).map { |looks| looks.sum { |look| look.public_send(name).to_i } }
        end
        return if errors.last < ERRORS_MIN || requests.any?(&:zero?)
        before, after = errors.zip(requests).map { |count, all| count.fdiv(all) }
        return if after <= before || Stats::RateRatio.evidence_of_more(errors, requests) < ERRORS_EVIDENCE
        Statement.of(:errors, before:, after:)
      end

      def starved(canary)
        return if sides(canary).any? { |looks| looks.sum(&:requests_count) < STARVED_REQUESTS_MIN }
        before, after = sides(canary).map do |looks|
          wall_ns = looks.sum { |look| look.parts_ns["wall"].to_i }
          wall_ns.zero? ? 0.0 : looks.sum { |look| look.parts_ns["pool"].to_i }.fdiv(wall_ns)
        end
        Statement.of(:starved_pool, before:, after:) if after - before > STARVED_RATIO
      end

      def slow(canary)
        before, after = sides(canary).map { |looks| looks.map(&:latency).reduce(:+) }
        return if [before, after].any? { |latency| latency.count < REQUESTS_MIN }
        limit_ns = before.quantile_ns(0.99) * HARM_RATIO
        share = Stats::Wilson.interval(beyond(after, limit_ns), after.count, level_ratio: SURE_RATIO)
        return if share.low <= HARM_SHARE || !lasting_beyond?(limit_ns)
        Statement.of(:slow, before_ns: before.quantile_ns(0.99), after_ns: after.quantile_ns(0.99),
          requests_count: after.count)
      end

      # What was slow for some seconds only is so in one third of the last looks, or in two. A third without requests
      # says nothing, and so not that it lasts.
      #
      # @return [Boolean] whether more than that share was, in each third of them
      def lasting_beyond?(limit_ns)
        count = lasting(LASTING_LOOKS, of_s: @plan.period_s - @plan.settle_s)
        late = @plan.counted(@readings, @period).last(count)
        return false if late.size < count
        late.each_slice((count / 3.0).ceil).all? do |looks|
          latency = looks.flat_map { |look| look.workers_of(@canaries) }.sum(Probe::Histogram.empty, &:latency)
          beyond(latency, limit_ns) > HARM_SHARE * latency.count
        end
      end

      def beyond(latency, limit_ns) = latency.count - latency.count_below(limit_ns)
    end
  end
end
