# frozen_string_literal: true

require "tmpdir"

module OtherGenerators
  # Sends one request with hey (0.1), for cross-checks. It tells no version of its own.
  #
  # What hey's figures are worth here:
  # - Times are whole tenths of a millisecond, so is mean_ns of an open loop. In a closed loop mean_ns is Little's law.
  # - Even arrivals are dealt out to its connections (`-q`), each of which waits for its response before it sends again, and
  #   what was due meanwhile is never sent. While the server stands still no request is late, for there are none; latency
  #   counts from when one was really sent (docs/measured/stall.md).
  # - Percentiles are of the first million answers.
  # - It takes the path and headers by its command line only, which whoever is on this machine can read (`ps`): no secrets there
  #   (docs/reference/secrets.md).
  # - One request only: it can't send a mix. Poisson arrivals, think time, bounded reuse and unix sockets are refused.
  class Hey < Program
    PROGRAM = "hey"
    INSTALL = "hey is not on PATH. Install it: sudo apt-get install hey (Debian, Ubuntu), brew install hey (macOS)"

    PERCENTILES = {p50_ns: 50, p90_ns: 90, p99_ns: 99}.freeze

    def name = "hey"

    private

    def send_load(mix:, url_base:, connections_count:, duration_s:, seed:, arrivals:)
      request = only_request(mix)
      refuse_text(mix)
      refuse_unix(url_base)
      refuse_reuse(arrivals)
      refuse("knows no arrivals by chance, only --arrivals even") if arrivals.kind == "poisson"
      Dir.mktmpdir("puma_tuner") do |folder|
        command = [executable, "-z", "#{duration_s}s", "-c", connections_count.to_s, "-t", "0", "-disable-compression", "-disable-redirects",
          *rate(arrivals, connections_count), *words(request, folder), "#{url_base}#{request.path}"]
        outcome(output_of(command, duration_s), request, connections_count, arrivals)
      end
    end

    def rate(arrivals, connections_count) = arrivals.open? ? ["-q", arrivals.rate_per_s.fdiv(connections_count).to_s] : []

    def words(request, folder)
      headers = request.headers.flat_map { |name, value| (name == "Host") ? ["-host", value] : ["-H", "#{name}: #{value}"] }
      return ["-m", request.http_method, *headers] unless request.body
      body = File.join(folder, "body")
      File.binwrite(body, request.body)
      ["-m", request.http_method, "-D", body, *headers]
    end

    def outcome(output, request, connections_count, arrivals)
      total_s = output[/^\s+Total:\s+([\d.]+) secs/, 1] or no_figures(output)
      duration_ns = (total_s.to_f * PumaTuner::Units::NS_PER_S).round
      statuses = output.scan(/^\s+\[(\d{3})\]\s+(\d+) responses/).to_h { |status, count| [status, count.to_i] }
      requests_count = statuses.values.sum
      Load::Outcome.new(
        generator: name, arrivals: arrivals.to_s, connections_count:, duration_ns:, requests_count:, statuses:,
        throughput_per_s: requests_count.fdiv(duration_ns) * PumaTuner::Units::NS_PER_S, **latencies(output, requests_count, duration_ns, connections_count, arrivals),
        unexpected_count: statuses.sum { |status, count| request.expects?(status.to_i) ? 0 : count },
        socket_errors_count: output[/^Error distribution:\n.*/m].to_s.scan(/^\s+\[(\d+)\]\t/).sum { |count,| count.to_i }
      )
    end

    def latencies(output, requests_count, duration_ns, connections_count, arrivals)
      little_ns = connections_count * duration_ns / requests_count if requests_count.positive?
      told = PERCENTILES.transform_values { |percent| output[/^\s+#{percent}%+ in ([\d.]+) secs/, 1]&.then { |text| ns(text) } }
      mean_ns = arrivals.open? ? output[/^\s+Average:\s+([\d.]+) secs/, 1]&.then { |text| ns(text) } : little_ns
      {**told, mean_ns: (mean_ns if little_ns), unknown: told.filter_map { |field, ns| PumaTuner::Unknown.of(field, :not_told) if ns.nil? }}
    end

    def ns(text) = (text.to_f * PumaTuner::Units::NS_PER_S).round
  end
end
