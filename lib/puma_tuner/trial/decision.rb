# frozen_string_literal: true

module PumaTuner
  module Trial
    # Tells whether a trial has to end now, as it does harm or as it can't be judged any more: a pure function of the
    # plan and the readings so far. Each rule asks whether the canary is worse off than its fellows in the same seconds,
    # so that what hits all of them (a deploy, a burst) is not taken for its fault.
    class Decision
      # The canary's requests beyond so many times the p99 of its fellows, of whom one in a hundred is beyond one p99:
      # when they are surely more than this share, people notice. Judgements: half as much again is seen in any chart,
      # and a fiftieth is twice what would be there without any difference.
      HARM_RATIO = 1.5
      HARM_SHARE = 0.02
      REQUESTS_MIN = 100
      SURE_RATIO = 0.99

      # So few errors happen anyway.
      ERRORS_MIN = 3
      ERRORS_P_VALUE = 0.01

      # Waits for a connection of a pool, of all time of the canary's requests, beyond those of its fellows.
      STARVED_RATIO = 0.05

      # The share of the control group's memory beyond which the kernel may end a process any time.
      MEMORY_RATIO = 0.95

      # For so many looks in a row a queue has to be longer than the threads that serve it.
      QUEUED_LOOKS = 3

      # For so many looks a worker may take to obey, and Puma to count a thread out.
      LOOKS_MAX = 8

      # What it may answer.
      KINDS = %i[workers_replaced memory disobeyed miscounted queue errors starved_pool slow].freeze

      # @param plan [Plan]
      # @param readings [Array<Reading>] so far
      # @return [Statement, nil] why the trial ends; nil: it goes on
      def self.of(plan, readings) = new(plan, readings).call

      def initialize(plan, readings)
        @plan = plan
        @readings = readings
        @last = readings.last
        @period = plan.period_at(@last.since_s) || plan.periods_count - 1
        @canary = plan.canary(@period)
      end

      # @return [Statement, nil]
      def call
        replaced || short_of_memory || (@canary && (disobeyed || miscounted || queue || harm))
      end

      private

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

      # @return [Array<WorkerReading>] the canary's, newest last, of this period alone
      def looks
        @looks ||= @readings.select { |reading| @plan.period_at(reading.since_s) == @period }
          .filter_map { |reading| reading.worker(@canary) }
      end

      def lately(count) = (looks.last(count) if looks.size >= count)

      def disobeyed
        late = lately(LOOKS_MAX) or return
        return unless late.all? { |look| look.threads_count != @plan.threads_count }
        Statement.of(:disobeyed, why_not: late.last.why_not)
      end

      def miscounted
        late = lately(LOOKS_MAX) or return
        return unless late.all? { |look| look.spawned_count != look.live_count }
        Statement.of(:miscounted, spawned: late.last.spawned_count, live: late.last.live_count)
      end

      # Connections that are kept alive stay with a worker, so that chance may ask the canary for more than its fellows.
      # A queue is its fault only where it does not serve more than they do, either.
      def queue
        late = lately(QUEUED_LOOKS) or return
        return unless late.all? { |look| look.queued_count > look.threads_count }
        fellows = @last.workers_of(@plan.pids - [@canary])
        usual = fellows.any? ? fellows.sum(&:queued_count).fdiv(fellows.size) : queued_before
        return if late.map(&:queued_count).min <= 2 * usual || served_more?(late)
        Statement.of(:queue, queued: late.last.queued_count, usual:)
      end

      # @param late [Array<WorkerReading>] the canary's
      # @return [Boolean] whether it served more in a look than others did, who did the same for as long
      def served_more?(late)
        fellows = @plan.pids - [@canary]
        others = @plan.alone? ? baseline : @readings.last(late.size).flat_map { |one| one.workers_of(fellows) }
        others.any? && mean(late) > mean(others)
      end

      def mean(looks) = looks.sum(&:requests_count).fdiv(looks.size)

      # Of a process without fellows: while it had what is configured.
      def queued_before = baseline.map(&:queued_count).max || 0

      def harm
        canary = @plan.counted(@readings, @period).filter_map { |reading| reading.worker(@canary) }
        return if canary.empty? || baseline.empty?
        errors(canary) || starved(canary) || slow(canary)
      end

      # @return [Array<WorkerReading>] what the canary is held against: its fellows in the same seconds; a single
      #   process itself, in the last period before with what is configured
      def baseline
        @baseline ||= if @plan.alone?
          period = (@period - 1).downto(0).find { |one| @plan.canary(one).nil? }
          period ? @plan.counted(@readings, period).flat_map(&:workers) : []
        else
          @plan.counted(@readings, @period).flat_map { |reading| reading.workers_of(@plan.pids - [@canary]) }
        end
      end

      def sides(canary) = [baseline, canary]

      def errors(canary)
        errors, requests = %i[errors_count requests_count].map do |name|
          sides(canary).map { |looks| looks.sum { |look| look.public_send(name).to_i } }
        end
        return if errors.last < ERRORS_MIN || requests.any?(&:zero?)
        before, after = errors.zip(requests).map { |count, all| count.fdiv(all) }
        return if after <= before || Stats::RateRatio.p_value(errors, requests) > ERRORS_P_VALUE
        Statement.of(:errors, before:, after:)
      end

      def starved(canary)
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
        beyond = after.count - after.count_below(limit_ns)
        share = Stats::Wilson.interval(beyond, after.count, level_ratio: SURE_RATIO)
        return if share.low <= HARM_SHARE
        Statement.of(:slow, before_ns: before.quantile_ns(0.99), after_ns: after.quantile_ns(0.99),
          requests_count: after.count)
      end
    end
  end
end
