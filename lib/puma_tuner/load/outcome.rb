# frozen_string_literal: true

module PumaTuner
  module Load
    # The outcome of one load, as the client saw it.
    #
    # url: of the server; generator: name and version; seed: of the requests' order and of chance
    # arrivals: closed or open loop, in words; think_ns: of a closed loop, between a response and the next request
    # duration_ns: of what was measured; neither settling nor waiting for the last responses is part of it
    # settling_ns: of a closed loop, the time before that, until each connection had had
    #   its first response; nil when it was stopped before, and then all of it was
    #   measured. unmet_count: connections that had none by then: the load never settled
    # requests_count: all that were answered: while it settled and after its end, too. It is what the server worked for,
    #   so CPU, objects and the like are divided by it. Other tools give up what is under way at their end, and don't
    #   tell how much that is: of them it is taken for nothing, and figures per request are too high by as many as there
    #   are connections, at most
    # drained_count: of these, answered after the last was due; of a closed loop
    #   they are in no latency, of an open one they are
    # throughput_per_s: of what was measured (counted_count), in an open loop of the responses that came before its end
    # statuses: {"200" => count}
    # unexpected_count: responses with a status that no request of the mix expects, or without the text that one must
    #   have; wrong_body_count: the latter alone; first_unexpected: the first of the mix's requests that has had one,
    #   and its status: "GET /articles/:id, 500"
    # socket_errors_count: connections that broke or were refused; their
    #   requests are in no other figure; first_failure: why the first did
    # refused: whether the load ended before its time because nobody listened: from the beginning, or for a second in
    #   which nothing was answered any more
    # connections_count: clients of a closed loop; of an open one, the most that
    #   may be open; connections_made_count: in all
    # mean_ns: latency; of a generator that does not tell, by Little's law: connections x duration / requests
    # p50_ns, p90_ns, p99_ns, p999_ns, max_ns: latency of what was measured, in
    #   an open loop from the intended instant; latency: all of it
    # service: from when a request was really sent
    # lag: the generator's own lateness, of requests that had a connection at their instant; lag_p99_ns: of these
    # intended_count: due in an open loop; connection_wait_count: of them, those that had to wait for a connection;
    #   unanswered_count: those without a response in the end
    # body_bytes_ranges: for each request of the mix, the shortest and the longest body among its responses
    # generator_cpu_ns: that the generator took itself
    # remarks: what makes the responses doubtful, though they are all as expected; sentences without a full stop
    # attainments: Array<Stats::Attainment>, of the goals that it was held against
    # unknown: fields that are nil, an Unknown each
    Outcome = Document.define(:generator, :arrivals, :connections_count, :duration_ns, :requests_count,
      :throughput_per_s, :mean_ns, :p50_ns, :p90_ns, :p99_ns, :p999_ns, :max_ns, :latency, :service, :lag, :lag_p99_ns,
      :intended_count, :connection_wait_count, :unanswered_count, :drained_count, :settling_ns, :unmet_count,
      :connections_made_count, :body_bytes_ranges, :generator_cpu_ns, :statuses, :unexpected_count, :wrong_body_count,
      :socket_errors_count, :first_failure, :refused, :remarks, :unknown, :url, :seed, :think_ns, :attainments,
      :first_unexpected,
      kind: :load_outcome, added: %i[url seed think_ns attainments first_unexpected],
      renamed: {connection_wait_count: "held_back_count"},
      nested: {latency: Probe::Histogram, service: Probe::Histogram, lag: Probe::Histogram, unknown: [Unknown],
               attainments: [Stats::Attainment]}) do
      # Only our own generator tells these; other tools leave them out.
      const_set(:SUMMED,
        %i[duration_ns settling_ns requests_count intended_count connection_wait_count unanswered_count drained_count
          connections_made_count generator_cpu_ns unexpected_count wrong_body_count socket_errors_count].freeze)
      const_set(:OWN,
        %i[arrivals p999_ns max_ns latency service lag lag_p99_ns intended_count connection_wait_count unanswered_count
          drained_count settling_ns unmet_count connections_made_count body_bytes_ranges generator_cpu_ns
          wrong_body_count first_failure first_unexpected refused url seed think_ns]
          .to_h { |field| [field, nil] }.merge(remarks: []).freeze)

      def initialize(attainments: nil, **fields)
        super(**Ractor.make_shareable({**self.class::OWN, **fields, attainments: attainments || []}, copy: true))
      end

      # @param goals [Array<Goal>] of all requests
      # @return [Outcome] with how many of the responses that counted met them
      def held_against(goals)
        return self if latency.nil? || counted_count.zero?
        count = intended_count || counted_count # what was due and had no response has met none
        with(attainments: goals.map do |goal|
          Stats::Attainment.of(goal, latency.count_below(goal.limit_ns), count)
        end)
      end

      # @return [String, nil] why this load must not be counted, as a clause
      def complaint
        if requests_count.zero? then "no request was answered#{reason}"
        elsif counted_count.zero? then "no request was answered within #{Units.duration(duration_ns)} " \
          "after the first of each connection"
        elsif wrong_status_count.positive?
          "#{wrong_status_count} of #{requests_count} responses had an unexpected status (#{unwelcome})#{example}"
        elsif unexpected_count.positive?
          "#{unexpected_count} of #{requests_count} responses did not contain the expected text#{example}"
        elsif refused
          "the server stopped listening after #{requests_count} responses, " \
            "and the load ended #{Units.duration(sending_ns)} after its beginning#{reason}"
        elsif socket_errors_count.positive?
          "#{socket_errors_count} connections broke or were refused, beside #{requests_count} responses#{reason}"
        elsif unanswered_count&.positive?
          "#{unanswered_count} requests were never answered, beside #{requests_count} that were"
        end
      end

      # @return [Boolean] whether requests left whatever the server did
      def open? = !intended_count.nil?

      # @return [Integer] requests of an open loop that were due and had no response when the load ended
      def left_count = drained_count.to_i + unanswered_count.to_i

      # @return [Boolean] whether the queue of an open loop still grew when the load ended, so that a longer load would
      #   have longer latencies
      def fell_behind?
        return false unless open? && mean_ns
        # Of few requests, or a twentieth of all, nobody can tell: chance makes queues, too.
        left_count > [0.05 * intended_count, 10].max && (more_than_usual? || much_later?)
      end

      # @return [Integer] responses that throughput and latency are of
      def counted_count = latency ? latency.count : requests_count

      # @param percentile [String] "p97.5"
      # @return [Integer, nil] nanoseconds; nil of one that the generator does not tell
      def percentile_ns(percentile)
        return self.class.quantile_ns(latency, Percentile.ratio(percentile), max_ns) if latency
        {"p50" => p50_ns, "p90" => p90_ns, "p99" => p99_ns}[percentile]
      end

      # @api private
      # @param latency [Probe::Histogram]
      # @param max_ns [Integer, nil] the longest
      # @return [Integer, nil] nanoseconds, by the same rule wherever loads are told; nil of no latencies
      def self.quantile_ns(latency, ratio, max_ns)
        latency.spread_quantile_ns(ratio)&.then { |ns| [ns, max_ns].compact.min }
      end

      # @api private
      # @return [Hash{Symbol => Integer, nil}] the fields that are percentiles
      def self.percentiles_ns(latency, max_ns)
        {p50_ns: 1/2r, p90_ns: 9/10r, p99_ns: 99/100r, p999_ns: 999/1000r}
          .transform_values { |ratio| quantile_ns(latency, ratio, max_ns) }
      end

      # @return [Integer] responses that came while requests were sent, settling included
      def in_time_count = requests_count - drained_count.to_i

      # @return [Integer] nanoseconds in which requests were sent, settling included
      def sending_ns = duration_ns + settling_ns.to_i

      # @yieldreturn [Array<String>] the last lines of the server's output, where they are to be had
      # @return [Outcome] itself
      # @raise [InvalidMeasurement]
      def ensure_expected_responses
        return self unless complaint
        output = block_given? ? yield : []
        raise InvalidMeasurement.new("the load is invalid: #{complaint}. #{advice}", output:)
      end

      # Joins both, as one load in two parts, each of which settled by itself: percentiles are of all responses that
      # counted.
      # @param other [Outcome] of the same generator, which tells histograms
      def +(other)
        both = latency + other.latency
        max_ns = [self.max_ns, other.max_ns].compact.max
        Outcome.new(
          **to_h, **summed(other), statuses: statuses.merge(other.statuses) { |_, one, two| one + two },
          latency: both, service: service + other.service, lag: lag && other.lag && lag + other.lag,
          max_ns:, **self.class.percentiles_ns(both, max_ns),
          lag_p99_ns: [lag_p99_ns, other.lag_p99_ns].compact.max,
          unmet_count: [unmet_count, other.unmet_count].compact.max,
          first_failure: first_failure || other.first_failure, refused: refused || other.refused,
          first_unexpected: first_unexpected || other.first_unexpected, remarks: remarks | other.remarks,
          body_bytes_ranges: body_bytes_ranges.zip(other.body_bytes_ranges)
            .map { |ranges| ranges.compact.flatten.minmax.then { |range| range if range.first } }
        )
      end

      private

      # By Little's law, as many are under way in a steady state as come within a mean latency. A queue that grows from
      # nothing has twice as many at its end where the server does nearly all that is due.
      def more_than_usual?
        usual_count = intended_count * mean_ns.fdiv(duration_ns)
        left_count > 1.2 * usual_count + 3 * Math.sqrt(usual_count)
      end

      # Where it does little of that, the mean is of requests that waited long after the end, too, and hardly fewer come
      # within it than are left. Then many of all are, the last took about twice the mean, and half of all more than it.
      # Without a queue, all of a slow server's take alike, or a few pages take long and most far less than the mean.
      def much_later?
        left_count > 0.3 * intended_count && p99_ns.to_i > 1.5 * mean_ns && p50_ns.to_i > 0.75 * mean_ns
      end

      def summed(other)
        sums = self.class::SUMMED.to_h do |name|
          [name, public_send(name) && other.public_send(name) && public_send(name) + other.public_send(name)]
        end
        count = counted_count + other.counted_count
        total_ns = [self, other].sum { |one| one.mean_ns.to_i * one.counted_count }
        throughput_per_s = [self, other].sum { |one| one.throughput_per_s * one.duration_ns } / sums.fetch(:duration_ns)
        {**sums, throughput_per_s:, mean_ns: (total_ns / count if count.positive?)}
      end

      def wrong_status_count = unexpected_count - wrong_body_count.to_i

      def example = first_unexpected && ", such as #{first_unexpected}"

      def reason = first_failure && "; the first to fail: #{first_failure}"

      # An app that answers, and rightly, is only slow.
      def advice
        by_hand = "Send the same requests by hand, and look at the server's log."
        if wrong_status_count.positive?
          "#{by_hand} #{refused_by}Statuses that are right can be listed with expect: in a request file " \
            "(docs/reference/requests.md)."
        elsif requests_count.zero? || unexpected_count.positive? || refused || socket_errors_count.positive?
          by_hand
        elsif open?
          "It is slow for so many requests: send a lower --rate."
        else
          "It is slow for so many at once: send by fewer --connections, or for a longer --duration."
        end
      end

      # Where an app is told the names that it has, as Rails is by config.hosts, it is not called 127.0.0.1. To one that
      # limits how often each client may ask, all of a load is of one.
      def refused_by
        if statuses.key?("403")
          "A host name that the app does not know is refused like this, too: header:Host=…. "
        elsif statuses.key?("429")
          "Whoever asks often is refused like this (Rack::Attack, Rails' rate_limit): let 127.0.0.1 do so meanwhile. "
        end
      end

      # The mix is not known here any more, so all of them are named.
      def unwelcome = statuses.map { |status, count| "#{status}: #{count}" }.join(", ")
    end
  end
end
