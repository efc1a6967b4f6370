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

    # key: for the judge; waits: whether a request sleeps, and all may use all cores
    Form = Data.define(:key, :title, :connections_count, :waits)

    # With one connection, requests never meet and threads rarely change: less happens, and less of it varies. Servers whose
    # threads sleep and wake up on several cores are what most apps are: caches are colder there, for the probe, too.
    FORMS = [
      Form.new("request_5", "a request, 5 connections", 5, false),
      Form.new("request_1", "a request, 1 connection", 1, false),
      Form.new("waiting_5", "a request that waits, 5 connections, all cores", 5, true)
    ].freeze

    WAIT_S = 0.001

    TITLE = "CPU per request"
    METHOD = <<~TEXT
      Puma (`-w 0 -t 5:5`) serves a Rack app that answers "hello"; wrk asks over kept connections on the same machine. In a
      *request that waits* the app sleeps for #{(WAIT_S * 1_000).round} ms first, and server and wrk may use all cores. Each
      sample is a fresh server: #{WARM_UP_S} s to warm up, then the CPU clock of its process before and after #{LOAD_S} s of load,
      divided by the requests that wrk counted, and the median of #{LOADS_COUNT} such loads. puma_tuner records every request,
      as in `puma_tuner measure`; gvltools is the middleware of its README with both timers; gvl_timing is a timer around every
      request, as gvl_metrics_middleware has it; rperf is the Rack recipe of its README; vernier is `vernier run`, a wall profile
      of the whole process. Where ours goes: *endpoints not named* is the probe without finding a request's endpoint; *requests not
      recorded* leaves the clock and methods around each request that do nothing.
    TEXT

    # @return [Array<Series>]
    def series = @series_of.values

    # @param variants [Array<Variant>]
    # @param folder [String] for what servers write
    def initialize(variants:, rounds_count:, quick:, folder:)
      @rounds_count = rounds_count
      @loads_count = quick ? 1 : LOADS_COUNT
      @folder = folder
      @variants = variants
      @series_of = FORMS.to_h { |form| [form, Series.new(key: form.key, title: form.title, unit: "µs", variants:)] }
      @generator = OtherGenerators::Wrk.new
    end

    # Every variant once a round.
    def run
      raise PumaTuner::LoadToolFailed, @generator.why_not unless @generator.available?
      @rounds_count.times do |round|
        warn "request: round #{round + 1} of #{@rounds_count}"
        Bench.order(@variants, round).each do |variant|
          FORMS.group_by(&:waits).each { |waits, forms| on_its_cores(waits) { measure(round, variant, forms) } }
        end
      end
    end

    private

    # By one server.
    def measure(round, variant, forms)
      with_server(variant, waits: forms.first.waits) do |server|
        forms.each { |form| @series_of[form].add(round, variant, sample(server, form)) }
      end
    rescue Bench::PumaServer::Failed => error
      forms.each { |form| @series_of[form].add(round, variant, Bench::Failure.new(reason: error.message)) }
    end

    # See Overhead.stay_on_one_core.
    def on_its_cores(all)
      raise PumaTuner::UsageError, "this process can't be given back its cores" if all && !OverheadCycle.roam
      yield
    ensure
      OverheadCycle.stay if all
    end

    def with_server(variant, waits:, &)
      Dir.mktmpdir("server", @folder) do |folder|
        environment = {**environment(variant, folder), "WAIT_S" => (WAIT_S.to_s if waits)}
        Bench::PumaServer.run(rackup: rackup(variant), environment:, folder:, &)
      end
    end

    # @return [Float, Bench::Failure]
    def sample(server, form)
      connections_count = form.connections_count
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
