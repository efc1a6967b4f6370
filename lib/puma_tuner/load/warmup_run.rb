# frozen_string_literal: true

module PumaTuner
  module Load
    # The record of how a server's processes were warmed up, window by window.
    #
    # steady: whether CPU and garbage collection per request were flat, and
    #   neither compiled code nor heap grew, over the last windows, and next to nothing of the mix was new to it
    # reason: what still moved, or was still new, when it was not
    # cpu_per_request_ns: of each window; nil entries where unknown
    Warmup = Document.define(:steady, :reason, :windows_count, :duration_ns, :requests_count, :cpu_per_request_ns)

    # Sends load until the server has settled, window by window: CPU and garbage
    # collection per request are flat, YJIT has stopped compiling, the heap has stopped
    # growing, and next to nothing of what is sent is new to it. What never settles is
    # measured all the same, and said to be "not steady".
    class WarmupRun
      # So many last windows must agree.
      WINDOWS_COUNT = 3

      # Windows that most apps need until they are steady: one or two more than the fewest.
      USUAL_WINDOWS_COUNT = WINDOWS_COUNT + 2

      # Their CPU per request may differ by this much from the first to the last of them, beyond what their spread
      # explains; and garbage collection per request by as much of the CPU, of which it is a part.
      DRIFT_RATIO = 0.05

      # A slow server compiles a little in each window, and much in all: since
      # the middle of the warm-up no more than this share.
      COMPILED_SINCE_HALF_RATIO = 0.03

      # Per window, of what is there already.
      COMPILED_GROWTH_RATIO = 0.01
      HEAP_GROWTH_RATIO = 0.03

      # Requests of the mix to which there was no response yet may make up so much of what is sent, and are cold then.
      # Each window begins with those that are left, the most frequent first: few windows do for a mix of many equal
      # requests, and rare ones keep nothing waiting.
      COLD_RATIO = 0.05

      # The turns of a trial have the seeds from the traffic's own on; those of windows are apart from them.
      SEED_DISTANCE = 1_000

      # The figures of one window; nil: unknown. answered: places in the mix of requests to which there were responses;
      # compiled_count and what follows: Probe::Gauges at its end, of all processes together.
      Window = Data.define(:requests_count, :answered, :cpu_per_request_ns, :gc_per_request_ns, :compiled_count,
        :heap_pages_count, :live_count, :gc_count) do
        # @param before [Host::Readings]
        # @param after [Host::Readings]
        # @param outcome [Outcome] of the load in between
        def self.between(before, after, outcome)
          spent = after - before
          requests_count = outcome.requests_count
          per_request = ->(amount) { amount.fdiv(requests_count) if amount && requests_count.positive? }
          new(requests_count:, answered: outcome.body_bytes_ranges&.filter_map&.with_index { |range, at| at if range },
            cpu_per_request_ns: per_request.call(spent.cpu_ns), gc_per_request_ns: per_request.call(spent.gc_ns),
            **%i[compiled_count heap_pages_count live_count gc_count].to_h { |gauge| [gauge, after.total(gauge)] })
        end
      end

      # @param traffic [Traffic] that is to find the server warm
      # @param window_s [Numeric]
      # @param limit_s [Numeric]
      # @yield sends load for a window
      # @yieldparam traffic [Traffic] the same, in an order of this window's own
      # @yieldparam window_s [Numeric]
      # @yieldparam first [Boolean] whether it is the first window, in which a
      #   cold app may take long for its first response
      # @yieldreturn [Window]
      def initialize(traffic:, window_s:, limit_s:, &send_window)
        @traffic = traffic
        @window_s = window_s
        @limit_s = limit_s
        @send_window = send_window
      end

      # @return [Warmup]
      def call
        began_s = Clock.now_s
        windows = []
        loop do
          windows << @send_window.call(traffic(windows), @window_s, windows.empty?)
          next if windows.size < WINDOWS_COUNT
          reasons = unsettled(windows)
          return warmup(windows, began_s, nil) if reasons.empty?
          return warmup(windows, began_s, reasons.join(", and ")) if Clock.now_s - began_s + @window_s > @limit_s
        end
      end

      # @param windows [Array<Window>]
      # @return [Array<String>] what still moved over the last of them
      def self.moving(windows)
        last = windows.last(WINDOWS_COUNT)
        # Rising CPU is noise, or a leak, and both show elsewhere. A heap with
        # room left is not collected yet, and then more and more.
        [
          ("CPU per request" if trend(last, :cpu_per_request_ns, DRIFT_RATIO) == -1),
          ("garbage collection per request" unless trend(last, :gc_per_request_ns, DRIFT_RATIO,
            of: :cpu_per_request_ns).zero?),
          ("compiled code" if compiling?(windows)),
          ("the heap" if grows?(last.map(&:heap_pages_count), HEAP_GROWTH_RATIO) || fills?(last))
        ].compact
      end

      # @return [Integer] -1 or 1 when a figure falls or rises with every window, from the first to the last by more
      #   than the ratio allows; 0 when it stays, or goes back and forth as noise does, or is not known
      def self.trend(windows, figure, ratio, of: figure)
        values = windows.map(&figure)
        return 0 if values.include?(nil) || windows.last.public_send(of).nil?
        steps = values.each_cons(2).map { |one, next_one| next_one <=> one }.uniq
        (steps.one? && (values.last - values.first).abs > ratio * windows.last.public_send(of)) ? steps.first : 0
      end

      # Tells whether heaps still fill. Between two collections every heap fills, with garbage. (`old_objects` would
      # tell the two apart, but is nearly zero while a major collection marks: a Rails app had 276,000, and 35,000 when
      # it was asked at such a moment.)
      def self.fills?(windows)
        collected = windows.map(&:gc_count).each_cons(2).all? { |one, next_one| one && next_one && next_one > one }
        collected && trend(windows, :live_count, HEAP_GROWTH_RATIO) == 1
      end

      def self.compiling?(windows)
        counts = windows.map(&:compiled_count)
        grows?(counts.last(WINDOWS_COUNT), COMPILED_GROWTH_RATIO) ||
          grows?([counts[(counts.size - 1) / 2], counts.last], COMPILED_SINCE_HALF_RATIO)
      end

      def self.grows?(values, ratio)
        return false if values.include?(nil) || values.first.zero?
        values.last > values[-2] * (1 + ratio)
      end
      private_class_method :trend, :fills?, :compiling?, :grows?

      private

      # With one order for all, a slow app would be sent the first requests of it in each window, and no others.
      def traffic(windows)
        requests = @traffic.mix.requests
        ahead = cold(windows).sort_by { |place| [-requests[place].weight, place] }
        @traffic.with(seed: @traffic.seed + SEED_DISTANCE + windows.size, mix: @traffic.mix.with(ahead:))
      end

      # @return [Array<Integer>] places in the mix of requests to which there was no response yet; none where the
      #   generator does not tell
      def cold(windows)
        return [] unless windows.all?(&:answered)
        @traffic.mix.requests.each_index.to_a - windows.flat_map(&:answered)
      end

      # @return [Array<String>] why the server is not warm yet, clauses
      def unsettled(windows)
        moving = self.class.moving(windows)
        weights = @traffic.mix.requests.map(&:weight)
        cold_ratio = weights.values_at(*cold(windows)).sum.fdiv(weights.sum)
        [
          ("#{moving.join(", ")} had not settled" if moving.any?),
          ("#{Units.percent(cold_ratio)} of the mix had had no response" if cold_ratio > COLD_RATIO)
        ].compact
      end

      def warmup(windows, began_s, reason)
        Warmup.new(steady: reason.nil?, reason: reason && "#{reason} after #{windows.size} windows",
          windows_count: windows.size, duration_ns: ((Clock.now_s - began_s) * Units::NS_PER_S).round,
          requests_count: windows.sum(&:requests_count),
          cpu_per_request_ns: windows.map { |window| window.cpu_per_request_ns&.round })
      end
    end
  end
end
