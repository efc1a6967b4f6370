# frozen_string_literal: true

require "tmpdir"
require_relative "../support/other_generators"
require_relative "../support/puma_server"

module GeneratorBenchmark
  # The servers that are asked: Puma with an app that does next to nothing, and one in C that does even less.
  module Hello
    RACKUP = File.expand_path("../overhead/request/none.ru", __dir__)

    # @yieldparam url [String]
    def self.puma
      Dir.mktmpdir("generator") do |folder|
        Bench::PumaServer.run(rackup: RACKUP, environment: {}, folder:) { |server| yield server.url }
      end
    rescue Bench::PumaServer::Failed => error
      raise PumaTuner::ServerFailed, "Puma #{error.message}"
    end

    # @yieldparam url [String]
    def self.in_c = PumaTuner::Load::StallServer.run(service_s: 0, stall_s: 0) { |server| yield server.url }
  end

  # Part 1: the generator's CPU per request in a closed loop, beside wrk's.
  class Cost
    ROUNDS_COUNT = 12
    LOAD_S = 3
    WARM_UP_S = 1
    CONNECTIONS_COUNT = 10

    SERVERS = {"puma" => "Puma", "in_c" => "a server in C"}.freeze

    # Each generator twice: what a pair of equals differs by is noise.
    VARIANTS = {"ours" => "puma_tuner", "ours_again" => "puma_tuner, again", "wrk" => "wrk", "wrk_again" => "wrk, again"}.freeze

    TITLE = "CPU per request"
    METHOD = <<~TEXT
      #{CONNECTIONS_COUNT} connections in a closed loop, #{LOAD_S} s; the generators take turns against one server, in changing order.
      wrk runs bare, with one thread and no script; its CPU time is all that its process took. Ours is that of the thread that
      sends, from the first connection to the last response; *with its start* adds the Ruby that it runs in, its start and the
      figures' way out: the same for a load of an hour. *Puma* serves "hello" from one process with five threads, and each response
      wakes the generator; the *server in C* (`ext/puma_tuner_load/stall.c`) answers at once, so several come together.
    TEXT

    # One server's rounds: {variant => [µs of each]}.
    Series = Data.define(:key, :title, :samples, :start_samples)

    # @return [Array<Series>]
    attr_reader :series

    def initialize(rounds_count:, quick:)
      @rounds_count = rounds_count || (quick ? 2 : ROUNDS_COUNT)
      @load_s = quick ? 1 : LOAD_S
      @wrk = OtherGenerators::Wrk.new
      @series = SERVERS.map { |key, title| Series.new(key:, title:, samples: Hash.new { |samples, name| samples[name] = [] }, start_samples: []) }
    end

    def run
      raise PumaTuner::LoadToolFailed, @wrk.why_not unless @wrk.available?
      @series.each do |series|
        Hello.public_send(series.key) do |url|
          ours(url, WARM_UP_S)
          @rounds_count.times { |round| round(series, url, round) }
        end
      end
    end

    private

    def round(series, url, round)
      warn "cost, #{series.title}: round #{round + 1} of #{@rounds_count}"
      Bench.order(VARIANTS.keys, round).each do |name|
        us, with_start_us = name.start_with?("ours") ? ours(url, @load_s) : wrk(url)
        series.samples[name] << us
        series.start_samples << with_start_us if with_start_us
      end
    end

    # @return [Array(Float, Float)] µs per request: of the thread that sends, of the whole process
    def ours(url, duration_s)
      outcome = nil
      child_s = children_s { outcome = PumaTuner::Load::Native.new.run(mix:, url_base: url, connections_count: CONNECTIONS_COUNT, duration_s:, seed: 1) }
      count = outcome.ensure_expected_responses.requests_count
      [outcome.generator_cpu_ns.fdiv(count * PumaTuner::Units::NS_PER_US), child_s * 1e6 / count]
    end

    # @return [Float] µs per request
    def wrk(url)
      output = nil
      child_s = children_s { output, = PumaTuner::Host::Child.output_of(["wrk", "-t1", "-c#{CONNECTIONS_COUNT}", "-d#{@load_s}", url], limit_s: @load_s + 30) }
      count = output.to_s[/(\d+) requests in/, 1].to_i
      raise PumaTuner::LoadToolFailed, "wrk gave no figures: #{output}" if count.zero? || output.include?("Non-2xx")
      child_s * 1e6 / count
    end

    def mix = PumaTuner::Load::Mix.of_paths(["/"])

    # CPU seconds of the processes that ended meanwhile.
    def children_s
      before = Process.times
      yield
      after = Process.times
      after.cutime + after.cstime - before.cutime - before.cstime
    end
  end

  # Part 2: how much later than intended requests leave, on a machine that the generator shares with the server.
  class Lag
    ROUNDS_COUNT = 12
    LOAD_S = 5
    WARM_UP_S = 1
    CONNECTIONS_COUNT = 200
    RATES_PER_S = [500, 2_000, 5_000].freeze

    TITLE = "Send lag"
    METHOD = <<~TEXT
      Poisson arrivals for #{LOAD_S} s, up to #{CONNECTIONS_COUNT} connections, to the same Puma on the same cores; each rate once a round. The lag is from the
      instant at which a request was meant to leave to the call that sends it, of requests that had a connection then. Shown are
      medians over the rounds, with their range. Latency counts from the intended instant, so the lag is a part of it.
    TEXT

    # outcomes: one a round
    Series = Data.define(:rate_per_s, :outcomes)

    # @return [Array<Series>]
    attr_reader :series

    def initialize(rounds_count:, quick:)
      @rounds_count = rounds_count || (quick ? 2 : ROUNDS_COUNT)
      @load_s = quick ? 1 : LOAD_S
      @series = RATES_PER_S.map { |rate_per_s| Series.new(rate_per_s:, outcomes: []) }
    end

    def run
      Hello.puma do |url|
        load(url, RATES_PER_S.max, WARM_UP_S)
        @rounds_count.times do |round|
          warn "lag: round #{round + 1} of #{@rounds_count}"
          @series.rotate(round).each { |series| series.outcomes << load(url, series.rate_per_s, @load_s, seed: round + 1) }
        end
      end
    end

    private

    def load(url, rate_per_s, duration_s, seed: 1)
      PumaTuner::Load::Native.new.run(mix: PumaTuner::Load::Mix.of_paths(["/"]), url_base: url, connections_count: CONNECTIONS_COUNT,
        duration_s:, seed:, arrivals: PumaTuner::Load::Arrivals.open(rate_per_s)).ensure_expected_responses
    end
  end
end
