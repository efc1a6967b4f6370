# frozen_string_literal: true

require "tmpdir"
require_relative "../support/other_generators"
require_relative "../support/puma_server"

module Overhead
  # Part 2: CPU microseconds of the server process per request, on an app that does next to nothing.
  class Request
    ROUNDS_COUNT = 7
    WARM_UP_S = 1
    LOAD_S = 1
    LOADS_COUNT = 5

    # With one connection, requests never meet and threads rarely change: less happens, and less of it varies.
    FORMS = {"request_5" => 5, "request_1" => 1}.freeze

    TITLE = "CPU per request"
    METHOD = <<~TEXT
      Puma (`-w 0 -t 5:5`) serves a Rack app that answers "hello"; wrk asks over kept connections on the same machine. Each
      sample is a fresh server: #{WARM_UP_S} s to warm up, then the CPU clock of its process before and after #{LOAD_S} s of load,
      divided by the requests that wrk counted, and the median of #{LOADS_COUNT} such loads. puma_tuner records every request,
      as in `puma_tuner measure`; gvltools is the middleware of its README with both timers; gvl_timing is a timer around every
      request, as gvl_metrics_middleware has it; rperf is the Rack recipe of its README; vernier is `vernier run`, a wall profile
      of the whole process. Where ours goes: *endpoints not named* is the probe without finding a request's endpoint; *requests not
      recorded* leaves the clock and methods around each request that do nothing.
    TEXT

    # @return [Array<Series>]
    attr_reader :series

    # @param variants [Array<Variant>]
    # @param folder [String] for what servers write
    def initialize(variants:, rounds_count:, quick:, folder:)
      @rounds_count = rounds_count
      @loads_count = quick ? 1 : LOADS_COUNT
      @folder = folder
      @variants = variants
      @series = FORMS.map do |key, connections_count|
        title = "a request, #{connections_count} connection#{"s" if connections_count > 1}"
        Series.new(key:, title:, unit: "µs", variants:)
      end
      @generator = OtherGenerators::Wrk.new
    end

    # Every variant once a round.
    def run
      raise PumaTuner::LoadToolFailed, @generator.why_not unless @generator.available?
      @rounds_count.times do |round|
        warn "request: round #{round + 1} of #{@rounds_count}"
        Bench.order(@variants, round).each do |variant|
          with_server(variant) { |server| @series.each { |series| series.add(round, variant, sample(server, series)) } }
        rescue Bench::PumaServer::Failed => error
          @series.each { |series| series.add(round, variant, Bench::Failure.new(reason: error.message)) }
        end
      end
    end

    private

    def with_server(variant, &)
      Dir.mktmpdir("server", @folder) do |folder|
        Bench::PumaServer.run(rackup: rackup(variant), environment: environment(variant, folder), folder:, &)
      end
    end

    # @return [Float, Bench::Failure]
    def sample(server, series)
      connections_count = FORMS.fetch(series.key)
      load(server, connections_count, WARM_UP_S)
      Bench.median(Array.new(@loads_count) { cpu_us(server, connections_count) })
    rescue PumaTuner::UsageError, PumaTuner::MeasurementFailed, SystemCallError => error
      Bench::Failure.new(reason: server.end_of_it || error.message.lines.first.strip)
    end

    # @return [Float] per request
    def cpu_us(server, connections_count)
      began_ns = server.cpu_ns
      requests_count = load(server, connections_count, LOAD_S)
      (server.cpu_ns - began_ns).fdiv(requests_count * PumaTuner::Units::NS_PER_US)
    end

    # @return [Integer] requests answered
    def load(server, connections_count, duration_s)
      @generator.run(mix: PumaTuner::Load::Mix.of_paths(["/"]), url_base: server.url, connections_count:, duration_s:, seed: 1)
        .ensure_expected_responses.requests_count
    end

    # What a tool needs in the app is in a rackup file of its name.
    def rackup(variant)
      [variant.key, "none"].map { |name| File.expand_path("request/#{name}.ru", __dir__) }.find { |path| File.exist?(path) }
    end

    def environment(variant, folder)
      case variant.key
      when "ours", *Parts::RUBY.keys
        part = Parts::RUBY[variant.key]
        {"RUBYOPT" => rubyopt(["-rpuma_tuner/autorun", *("-r#{part}" if part)].join(" ")), "RUBYLIB" => PumaTuner::Probe::LIBRARY_FOLDER, "PUMA_TUNER_MEASURE" => "1",
         "PUMA_TUNER_DIRECTORY" => folder}
      when "vernier" then {"RUBYOPT" => rubyopt("-rvernier/autorun"), "VERNIER_OUTPUT" => File.join(folder, "vernier.json.gz")}
      else {}
      end
    end

    # Bundler's own comes first, for the tool is in its bundle.
    def rubyopt(own) = [ENV["RUBYOPT"], own].compact.join(" ")
  end
end
