# frozen_string_literal: true

require "puma_tuner"

module FleetScale
  # What servers would have told Prometheus, for days, with the truth known: requests after a curve of the day, durations after a
  # logarithmic normal distribution for each endpoint. Each bucket is rounded by itself, so that lower ones may gain one more
  # than higher ones now and then.
  #
  # Group a is the baseline; in group b every request takes `speed_ratio` times as long, and a worker `memory_ratio` times the memory.
  class SimulatedFleet
    Bounds = PumaTuner::Export::Bounds

    # median_s and sigma: of its durations; weight: of the requests, in group a and in group b
    Endpoint = Data.define(:name, :median_s, :sigma, :weights)

    WORKERS_PER_SERVER = 4

    PARTS = {"queue" => 0.05, "cpu" => 0.25, "preempted" => 0.02, "gvl_wait" => 0.1, "gc" => 0.03, "io" => 0.5, "lock" => 0.02, "sleep" => 0.03}.freeze

    # Of YJIT, in a worker of group b.
    CODE_BYTES = 45_000_000
    CODE_LIMIT_BYTES = 48 * PumaTuner::Units::MIB

    # The rules' own interval for endpoints.
    ENDPOINTS_RECORD_S = 300

    # @param services_count [Integer]
    # @param workers_count [Integer] of the whole fleet, half of them in each group
    # @param workers_per_server [Integer]
    # @param endpoints [Array<Endpoint>]
    # @param times [Array<Integer>] of the samples, seconds
    def initialize(workers_count:, times:, services_count: 1, workers_per_server: WORKERS_PER_SERVER, endpoints: self.class.endpoints(10), rate_per_worker_s: 5.0, speed_ratio: 0.811,
      memory_ratio: 1.31, seed: 1)
      @workers_per_server = workers_per_server
      @servers = Array.new([workers_count / workers_per_server, 2].max) { |index| {index:, group: (index.even? ? "a" : "b"), service: "service#{index / 2 % services_count}"} }
      @times = times
      @endpoints = endpoints
      @rate_per_worker_s = rate_per_worker_s
      @speed = {"a" => 1.0, "b" => speed_ratio}
      @memory = {"a" => 400e6, "b" => 400e6 * memory_ratio}
      @seed = seed
    end

    # @param mix_b [Float] by how much the first endpoint is asked for more often in group b
    def self.endpoints(count, mix_b: 1.0)
      Array.new(count) { |index| Endpoint.new(name: "GET /things/#{index}/:id", median_s: 0.02 * 1.35**index, sigma: 0.5, weights: {"a" => 1.0, "b" => index.zero? ? mix_b : 1.0}) }
    end

    # @return [Integer] rounded to whole servers
    def workers_count = @servers.size * @workers_per_server

    # Of the distribution itself, without buckets.
    #
    # @return [Float] seconds
    def true_quantile_s(group, ratio)
      low, high = 1e-5, 1e3
      60.times do
        middle = Math.sqrt(low * high)
        (share_up_to(middle, group) < ratio) ? low = middle : high = middle
      end
      high
    end

    # @return [Float] bytes over all workers
    def true_memory_bytes(group) = @servers.count { |server| server[:group] == group } * @workers_per_server * @memory[group]

    # Each series, whole, as a family of text wants it.
    #
    # @param io [#<<]
    # @param only [Array<Integer>] of its times
    # @return [Integer] samples written
    def write(io, only: @times)
      begin_with(only)
      @servers.each { |server| write_server(io, server) }
      io << "# EOF\n"
      @written
    end

    # The same as rules would have recorded it, at times of their own; so much the same for any number of servers.
    #
    # @return [Integer] samples written
    def write_recorded(io, only: @times)
      begin_with(only)
      @servers.group_by { |server| server.slice(:group, :service) }.each { |key, servers| write_group(io, key, servers.size) }
      io << "# EOF\n"
      @written
    end

    private

    def weight(group) = @endpoints.sum { |endpoint| endpoint.weights[group] }

    def share(endpoint, group) = endpoint.weights[group] / weight(group)

    def share_up_to(seconds, group)
      @endpoints.sum { |endpoint| endpoint.weights[group] * cdf(endpoint, seconds, group) } / weight(group)
    end

    def cdf(endpoint, seconds, group) = Math.erfc(-Math.log(seconds / (endpoint.median_s * @speed[group])) / endpoint.sigma / Math.sqrt(2)) / 2

    # Twice as much by day as by night, and days differ.
    def rate(time_s)
      day = time_s / 86_400
      @day_factors ||= Hash.new { |factors, number| factors[number] = 1 + 0.2 * (Random.new(@seed + number).rand - 0.5) }
      @rate_per_worker_s * @workers_per_server * @day_factors[day] * (1 + 0.33 * Math.sin(2 * Math::PI * (time_s % 86_400) / 86_400))
    end

    # Requests of one server up to each time. Before the first one it has served for a while, so that nothing begins at zero.
    def served
      @served ||= begin
        total = 1_000.0
        @times.each_with_index.map { |time_s, index| total += rate(time_s) * (index.zero? ? 0 : time_s - @times[index - 1]) }
      end
    end

    def begin_with(only)
      @written = 0
      first = @times.index(only.first)
      @indices = (first...(first + only.size))
    end

    # @param every_s [Integer] only so often
    def series(io, name, labels, every_s: 1)
      head = "#{name}{#{labels.map { |label, value| "#{label}=\"#{value}\"" }.join(",")}} "
      indices = (every_s == 1) ? @indices : @indices.select { |index| @times[index] % every_s == 0 }
      indices.each { |index| io << head << yield(index).to_s << " " << @times[index].to_s << "\n" }
      @written += indices.size
    end

    def write_server(io, server)
      base = {job: "puma", instance: "10.0.0.#{server[:index]}:9394", service: server[:service], yjit: (server[:group] == "a") ? "off" : "on"}
      series(io, "puma_tuner_exporter_info", {**base, schema: PumaTuner::Export::SCHEMA, complete: "true"}) { 1 }
      series(io, "puma_tuner_clock_seconds", base) { |index| @times[index] }
      write_histograms(io, base, server[:group], "puma_tuner_%srequest_duration_seconds_bucket") do |index, share|
        (served[index] * share).floor
      end
      series(io, "puma_tuner_request_duration_seconds_count", base) { |index| served[index].floor }
      mean = mean_s(server[:group])
      @endpoints.each do |endpoint|
        PARTS.each { |part, share| series(io, "puma_tuner_request_time_seconds_total", {**base, endpoint: endpoint.name, part:}) { |index| (served[index] / @endpoints.size * mean * share).round(6) } }
      end
      write_processes(io, base, server[:group], mean)
    end

    def mean_s(group)
      @endpoints.sum { |endpoint| endpoint.weights[group] * endpoint.median_s * @speed[group] * Math.exp(endpoint.sigma**2 / 2) } / weight(group)
    end

    # @param name [String] of the series, with a place for what an endpoint's have in it
    # @yieldreturn [Numeric] a sample, by the place of its time and the share of the requests that the bucket has
    def write_histograms(io, base, group, name, every_s: 1)
      buckets(Bounds::FINE) do |le, seconds|
        share = seconds ? share_up_to(seconds, group) : 1.0
        series(io, format(name, ""), {**base, le:}) { |index| yield index, share }
      end
      @endpoints.each do |endpoint|
        buckets(Bounds::COARSE) do |le, seconds|
          part = share(endpoint, group) * (seconds ? cdf(endpoint, seconds, group) : 1.0)
          series(io, format(name, "endpoint_"), {**base, endpoint: endpoint.name, le:}, every_s:) { |index| yield index, part }
        end
      end
    end

    def buckets(bounds, &) = {**bounds.names.zip(bounds.bounds_ns.map { |ns| ns / 1e9 }).to_h, "+Inf" => nil}.each(&)

    def write_processes(io, base, group, mean)
      @workers_per_server.times do |worker|
        labels = {**base, worker:}
        per_worker = ->(index) { served[index] / @workers_per_server }
        series(io, "puma_tuner_worker_threads", labels) { 5 }
        series(io, "puma_tuner_process_pss_bytes", labels) { |index| memory_bytes(group, index).round }
        series(io, "puma_tuner_process_cpu_seconds_total", labels) { |index| (per_worker[index] * mean * 0.28).round(4) }
        series(io, "puma_tuner_gc_seconds_total", labels) { |index| (per_worker[index] * mean * 0.03).round(4) }
        next if group == "a"
        {"code_region" => code_bytes(worker), "limited" => code_bytes(worker), "limit" => CODE_LIMIT_BYTES}.each do |name, bytes|
          series(io, "puma_tuner_yjit_#{name}_bytes", labels) { bytes.round }
        end
      end
    end

    # Of a worker at a sample's time.
    def memory_bytes(group, _index) = @memory[group]

    def code_bytes(_worker) = CODE_BYTES

    def write_group(io, key, servers_count)
      base = {job: "puma", service: key[:service], yjit: (key[:group] == "a") ? "off" : "on"}
      workers_count = servers_count * @workers_per_server
      mean = mean_s(key[:group])
      per_s = ->(index) { rate(@times[index]) * servers_count }
      write_histograms(io, base, key[:group], "fleet:puma_tuner_%srequest_duration_seconds_bucket:rate5m", every_s: ENDPOINTS_RECORD_S) do |index, share|
        (per_s[index] * share).round(7)
      end
      PARTS.each { |part, share| series(io, "fleet:puma_tuner_request_time_seconds:rate5m", {**base, part:}) { |index| (per_s[index] * mean * share).round(6) } }
      {"process_cpu_seconds:rate5m" => 0.28, "gc_seconds:rate5m" => 0.03}.each { |name, share| series(io, "fleet:puma_tuner_#{name}", base) { |index| (per_s[index] * mean * share).round(6) } }
      levels(key[:group], servers_count, workers_count).each { |name, value| series(io, "fleet:puma_tuner_#{name}", base) { value } }
      series(io, "fleet:puma_tuner_servers:count", {**base, schema: PumaTuner::Export::SCHEMA, complete: "true"}) { servers_count }
    end

    def levels(group, servers_count, workers_count)
      memory = (workers_count * @memory[group]).round
      all = {"process_pss_bytes:sum" => memory, "worker_pss_bytes:sum" => memory, "workers:count" => workers_count, "worker_threads:sum" => workers_count * 5}
      return all if group == "a"
      {**all, "yjit_code_region_bytes:sum" => workers_count * CODE_BYTES, "yjit_limited_bytes:max" => CODE_BYTES, "yjit_limit_bytes:min" => CODE_LIMIT_BYTES, "yjit_workers:count" => workers_count}
    end
  end
end
