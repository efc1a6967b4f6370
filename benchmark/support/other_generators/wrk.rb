# frozen_string_literal: true

require "json"
require "tmpdir"

module OtherGenerators
  # Sends a mix with wrk (4.0 or newer). One thread: it can send more than a Ruby server on the same machine can answer.
  #
  # What wrk's figures are worth here:
  # - mean_ns is Little's law, so it also holds the moments between a response and the next request, and connecting.
  # - Percentiles are of wrk's own samples, from the first byte sent to the last received, with the invented ones taken
  #   out again (WrkCorrection). They are kept only if exactly one sample per response is left, and together these fit into
  #   connections x duration. Connecting is not part of them.
  # - Being a closed loop, it sends less while the server is slow. That is the load; it is not corrected for.
  # - Answers cannot be told apart by request, so one is unexpected when no request of the mix expects its status.
  # - HEAD is refused: wrk waits for a body that never comes.
  class Wrk < Program
    PROGRAM = "wrk"
    INSTALL = "wrk is not on PATH. Install it: sudo apt-get install wrk (Debian, Ubuntu), brew install wrk (macOS)"
    # @return [String] name and version, as the distribution calls it: "wrk debian/4.1.0-3"
    def name
      return "wrk" unless available?
      @name ||= PumaTuner::Host::Child.output_of([executable, "-v"], limit_s: 5)&.first&.slice(/\Awrk \S+/) || "wrk"
    end

    private

    def send_load(mix:, url_base:, connections_count:, duration_s:, seed:, arrivals:)
      refuse_head(mix)
      refuse_data(mix)
      refuse_text(mix)
      refuse_arrivals(arrivals, url_base)
      whole_s = duration_s.ceil
      Dir.mktmpdir("puma_tuner") do |folder|
        script = File.join(folder, "mix.lua")
        File.binwrite(script, WrkScript.new(mix, seed).to_s)
        # No response can take longer than the run, so with this limit none is dropped from the histogram.
        command = [executable, "-t1", "-c#{connections_count}", "-d#{whole_s}", "-T#{whole_s + 1}", "-s", script, url_base]
        outcome(figures(output_of(command, whole_s)), mix, connections_count)
      end
    end

    def refuse_head(mix)
      return if mix.requests.none? { |request| request.http_method == "HEAD" }
      raise PumaTuner::UsageError, "wrk cannot send HEAD: it waits for a body that never comes. Leave those requests out of the mix."
    end

    def refuse_arrivals(arrivals, url_base)
      refuse_unix(url_base)
      refuse_reuse(arrivals)
      refuse("knows only a closed loop") if arrivals.open?
    end

    def figures(output)
      line = output.lines.find { |text| text.start_with?(WrkScript::MARK) }
      line ? JSON.parse(line.delete_prefix(WrkScript::MARK)) : no_figures(output)
    end

    def outcome(figures, mix, connections_count)
      requests_count, duration_ns = figures["requests_count"], figures["duration_us"] * PumaTuner::Units::NS_PER_US
      samples, cause = samples_and_cause(figures, connections_count)
      statuses = figures["statuses"].sort.to_h
      Load::Outcome.new(
        generator: name, arrivals: Load::Arrivals.closed.to_s, connections_count:, duration_ns:, requests_count:, statuses:,
        throughput_per_s: requests_count.fdiv(duration_ns) * PumaTuner::Units::NS_PER_S,
        mean_ns: (connections_count * duration_ns / requests_count if requests_count.positive?),
        **{p50_ns: 0.5, p90_ns: 0.9, p99_ns: 0.99}.transform_values { |ratio| quantile_ns(samples, ratio) },
        unexpected_count: statuses.sum { |status, count| mix.expects?(status.to_i) ? 0 : count },
        socket_errors_count: figures["socket_errors_count"],
        unknown: cause ? %i[p50_ns p90_ns p99_ns].map { |field| PumaTuner::Unknown.of(field, cause) } : []
      )
    end

    def quantile_ns(samples, ratio)
      sorted = samples&.flat_map { |us, count| [us] * count } or return
      (PumaTuner::Stats::Quantile.of(sorted, ratio) * PumaTuner::Units::NS_PER_US).round
    end

    def samples_and_cause(figures, connections_count)
      requests_count, duration_us = figures.values_at("requests_count", "duration_us")
      return nil, :no_answer if requests_count.zero?
      interval_us = WrkCorrection.interval_us(duration_us:, requests_count:, connections_count:)
      samples = WrkCorrection.undo(figures["latencies"].to_h, interval_us)
      return samples, nil if samples && samples.values.sum == requests_count && busy_us(samples) <= connections_count * duration_us
      # This wrk does not do as versions 4.0 to 4.2 do: the samples that it invents can't be taken out again.
      [nil, :not_as_known]
    end

    def busy_us(samples) = samples.sum { |us, count| us * count }
  end
end
