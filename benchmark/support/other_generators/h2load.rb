# frozen_string_literal: true

require "tmpdir"

module OtherGenerators
  # Sends one request with h2load (of nghttp2, 1.40 or newer), over HTTP/1.1, for cross-checks.
  #
  # What h2load's figures are worth here:
  # - Latencies are from its log, a line per response, in microseconds, each from when the request was really sent.
  # - Even arrivals are dealt out to its connections (`--rps`), each of which waits for its response before it sends again. What
  #   was due meanwhile is sent late and counted from then: a server that stands still costs each connection one slow
  #   request, and the others look quick (docs/measured/stall.md).
  # - It runs for whole seconds; other durations are rounded up.
  # - A server that nobody listens on is no error to it: there are no responses then.
  # - It takes headers by its command line only, which whoever is on this machine can read (`ps`): no secrets there (docs/reference/secrets.md).
  # - One request only: it can't send a mix. HEAD, Poisson arrivals, think time, bounded reuse and unix sockets are refused.
  class H2load < Program
    PROGRAM = "h2load"
    INSTALL = "h2load is not on PATH. Install it: sudo apt-get install nghttp2-client (Debian, Ubuntu), brew install nghttp2 (macOS)"

    # @return [String] name and version
    def name
      return "h2load" unless available?
      @name ||= PumaTuner::Host::Child.output_of([executable, "--version"], limit_s: 5)&.first&.slice(/\Ah2load \S+/) || "h2load"
    end

    private

    def send_load(mix:, url_base:, connections_count:, duration_s:, seed:, arrivals:)
      request = only_request(mix)
      refuse_all(request, mix, url_base, arrivals)
      whole_s = duration_s.ceil
      Dir.mktmpdir("puma_tuner") do |folder|
        log = File.join(folder, "answers.log")
        command = [executable, "--h1", "-t1", "-m1", "-c#{connections_count}", "-D#{whole_s}", "--log-file=#{log}", *rate(arrivals, connections_count),
          *words(request, folder), "--input-file=#{written(folder, "address", "#{url_base}#{request.path}\n")}"]
        output = output_of(command, whole_s)
        outcome(output, answers(log, output), request, connections_count, arrivals)
      end
    end

    def refuse_all(request, mix, url_base, arrivals)
      refuse_text(mix)
      refuse_unix(url_base)
      refuse_reuse(arrivals)
      refuse("is not used for HEAD") if request.http_method == "HEAD"
      refuse("knows no arrivals by chance, only --arrivals even") if arrivals.kind == "poisson"
    end

    def rate(arrivals, connections_count) = arrivals.open? ? ["--rps=#{arrivals.rate_per_s.fdiv(connections_count)}"] : []

    def words(request, folder)
      headers = {":method" => request.http_method}.merge(request.headers.transform_keys { |name| (name == "Host") ? ":authority" : name })
      words = headers.flat_map { |name, value| ["-H", "#{name}: #{value}"] }
      return words unless request.body
      [*words, "-d", written(folder, "body", request.body)]
    end

    def written(folder, name, bytes) = File.join(folder, name).tap { |path| File.binwrite(path, bytes) }

    # @return [Hash{String => Hash{Integer => Integer}}] status => {microseconds => answers}
    def answers(log, output)
      no_figures(output) unless output.match?(/^finished in/) && File.exist?(log)
      File.foreach(log).each_with_object(Hash.new { |answers, status| answers[status] = Hash.new(0) }) do |line, answers|
        _, status, us = line.split("\t")
        answers[status][us.to_i] += 1 unless status == "-1"
      end
    end

    def outcome(output, answers, request, connections_count, arrivals)
      duration_ns = (output[/^finished in ([\d.]+)s/, 1].to_f * PumaTuner::Units::NS_PER_S).round
      statuses = answers.transform_values { |counts| counts.values.sum }.sort.to_h
      requests_count = statuses.values.sum
      Load::Outcome.new(
        generator: name, arrivals: arrivals.to_s, connections_count:, duration_ns:, requests_count:, statuses:,
        throughput_per_s: requests_count.fdiv(duration_ns) * PumaTuner::Units::NS_PER_S, **latencies(answers.values),
        unexpected_count: statuses.sum { |status, count| request.expects?(status.to_i) ? 0 : count },
        socket_errors_count: output[/(\d+) errored/, 1].to_i + output[/(\d+) timeout/, 1].to_i
      )
    end

    def latencies(counts_by_status)
      counts = counts_by_status.reduce({}) { |sum, one| sum.merge(one) { |_, a, b| a + b } }.sort.to_h
      return {mean_ns: nil, p50_ns: nil, p90_ns: nil, p99_ns: nil, unknown: %i[mean_ns p50_ns p90_ns p99_ns].map { |field| PumaTuner::Unknown.of(field, :no_answer) }} if counts.empty?
      sorted = counts.flat_map { |us, count| [us] * count }
      quantiles = {p50_ns: 0.5, p90_ns: 0.9, p99_ns: 0.99}.transform_values { |ratio| (PumaTuner::Stats::Quantile.of(sorted, ratio) * PumaTuner::Units::NS_PER_US).round }
      {mean_ns: counts.sum { |us, count| us * count } * PumaTuner::Units::NS_PER_US / counts.values.sum, **quantiles, unknown: []}
    end
  end
end
