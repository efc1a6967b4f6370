# frozen_string_literal: true

module PumaTuner
  module Load
    # What came of one load, as the client saw it.
    #
    # generator: name and version
    # duration_ns: from the first connection to the last answer that counts
    # requests_count: answered; throughput_per_s: of these
    # statuses: {"200" => count}
    # unexpected_count: answers with a status that no request of the mix expects
    # socket_errors_count: connections that broke or were refused; their requests are in no other figure
    # mean_ns: latency by Little's law, connections x duration / requests: it needs no sample, so none can mislead it
    # p50_ns, p90_ns, p99_ns, p999_ns: latency, in an open loop from the intended instant; latency: all of it
    # service: from when a request was really sent
    # lag_p99_ns: the generator's own lateness, of requests that had a connection at their instant
    # intended_count: due in an open loop; held_back_count: of them, those that had to wait for a connection;
    #   unanswered_count: those without an answer in the end
    # body_bytes_ranges: for each request of the mix, the shortest and the longest body among its answers
    # generator_cpu_ns: that the generator took itself
    # unknown: {name of a field that is nil => why}
    Outcome = Document.define(:generator, :connections_count, :duration_ns, :requests_count, :throughput_per_s, :mean_ns,
      :p50_ns, :p90_ns, :p99_ns, :p999_ns, :latency, :service, :lag_p99_ns, :intended_count, :held_back_count, :unanswered_count,
      :body_bytes_ranges, :generator_cpu_ns, :statuses, :unexpected_count, :socket_errors_count, :unknown,
      nested: {latency: Stats::Histogram, service: Stats::Histogram}) do
      # What only our own generator tells; other tools leave it out.
      const_set(:OWN, %i[p999_ns latency service lag_p99_ns intended_count held_back_count unanswered_count body_bytes_ranges
        generator_cpu_ns].to_h { |field| [field, nil] }.freeze)

      def initialize(**fields) = super(**Ractor.make_shareable({**self.class::OWN, **fields}, copy: true))

      # @return [String, nil] why this load must not be counted, as a clause
      def complaint
        if requests_count.zero? then "no request was answered"
        elsif unexpected_count.positive?
          "#{unexpected_count} of #{requests_count} answers had an unexpected status (#{unwelcome})"
        elsif socket_errors_count.positive?
          "#{socket_errors_count} connections broke or were refused, beside #{requests_count} answers"
        elsif unanswered_count&.positive?
          "#{unanswered_count} requests were never answered, beside #{requests_count} that were"
        end
      end

      # @return [Outcome] itself
      # @raise [VoidMeasurement]
      def insist_on_expected_answers
        return self unless complaint
        raise VoidMeasurement, "the load does not count: #{complaint}. Ask the server by hand for what was sent, and look at " \
          "its log. Statuses that are right can be listed with expect: in a request file (docs/formats/requests.md)."
      end

      private

      # The mix is not known here any more, so all of them are named.
      def unwelcome = statuses.map { |status, count| "#{status}: #{count}" }.join(", ")
    end
  end
end
