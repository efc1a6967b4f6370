# frozen_string_literal: true

require "fileutils"
require "yaml"
require_relative "../support/prometheus_process"
require_relative "simulated_fleet"

module FleetScale
  # Puts samples into a Prometheus' folder, before it runs, by `promtool`.
  class Backfill
    # promtool reads its file once for each block, and blocks are of two hours where nothing else is asked for: a file for
    # each.
    BLOCK_S = 7_200

    # What Prometheus itself makes of nine such. Days of few samples take one start of promtool for each, which is what
    # they cost.
    LONG_BLOCK_S = 64_800

    # @param data [String] the folder
    # @param scratch [String] another, for the files
    # @param block_s [Integer] BLOCK_S or LONG_BLOCK_S
    def initialize(data, scratch, block_s: BLOCK_S)
      @data = data
      @scratch = scratch
      @block_s = block_s
      @samples_count = 0
      FileUtils.mkdir_p(data)
    end

    # @return [Integer] written so far
    attr_reader :samples_count

    # @param times [Array<Integer>] of all samples
    # @yieldparam times [Array<Integer>] those of one file
    # @yieldparam io [IO]
    # @yieldreturn [Integer] samples written
    def in_blocks(times)
      times.group_by { |time_s| time_s / @block_s }.each_value { |some| one(some) { |io| yield(some, io) } }
    end

    # Rules that are evaluated over what is there.
    def rules(path, url:, begins_s:, ends_s:)
      run("tsdb", "create-blocks-from", "rules", "--url=#{url}", "--start=#{begins_s}", "--end=#{ends_s}", "--eval-interval=60s", "--output-dir=#{@data}", path)
    end

    private

    def one(times)
      path = File.join(@scratch, "#{times.first}.om")
      count = File.open(path, "w") { |io| yield(io) }
      run("tsdb", "create-blocks-from", "openmetrics", "-q", "--max-block-duration=#{@block_s}s", path, @data)
      @samples_count += count
    ensure
      FileUtils.rm_f(path)
    end

    def run(*words)
      output = IO.popen([{"GOMAXPROCS" => "1"}, "nice", PrometheusProcess.find("promtool"), *words, err: %i[child out]], &:read)
      raise "promtool #{words.first(3).join(" ")} failed:\n#{output}" unless $?.success?
    end
  end

  # One fleet, written into a Prometheus, and asked.
  class Trial
    RULES = File.expand_path("../../ops/prometheus/rules.yml", __dir__)
    TMP = File.expand_path("../../tmp", __dir__)
    SCRAPE_S = 15
    RECORD_S = 60

    # As far as a rule looks back.
    RULES_S = 300

    # samples_count: written; data_bytes: on the disk; rules_s: evaluating all rules once, nil of recorded fleets
    # hours_count: that it has served; comparison_s: of `fleet`, over all of them; cpu_s: Prometheus' of it; all three nil where
    #   the rules alone were evaluated
    Outcome = Data.define(:workers_count, :hours_count, :source, :samples_count, :data_bytes, :rules_s, :comparison_s, :cpu_s) do
      # @return [Float]
      def bytes_per_sample = data_bytes.fdiv(samples_count)

      # @return [String] "4 h", or "5 min"
      def served = hours_count ? "#{hours_count} h" : "#{RULES_S / 60} min"

      # @return [Float] each day and worker
      def bytes_per_worker_day = data_bytes * 24.0 / hours_count / workers_count
    end

    # @param hours_count [Integer, nil] nil: no longer than the rules look back, which alone are evaluated
    # @param source [Symbol] :raw or :rules
    def initialize(workers_count, hours_count, source:, services_count:, rounds_count:)
      @workers_count = workers_count
      @hours_count = hours_count
      @source = source
      @rounds_count = rounds_count
      @ends_s = Time.now.to_i / 3_600 * 3_600
      step_s = (source == :raw) ? SCRAPE_S : RECORD_S
      # A while more than is asked for: rates need what came before.
      begins_s = @ends_s - (hours_count ? hours_count * 3_600 + 600 : RULES_S)
      @times = (begins_s..@ends_s).step(step_s).to_a
      @fleet = SimulatedFleet.new(workers_count:, times: @times, services_count:)
    end

    # @return [Outcome]
    def run
      FileUtils.mkdir_p(TMP)
      Dir.mktmpdir("fleet_scale", TMP) do |folder|
        @backfill = Backfill.new(File.join(folder, "data"), folder)
        @backfill.in_blocks(@times) { |only, io| (@source == :raw) ? @fleet.write(io, only:) : @fleet.write_recorded(io, only:) }
        data_bytes = Dir[File.join(folder, "data/**/*")].select { |path| File.file?(path) }.sum { |path| File.size(path) }
        PrometheusProcess.open(folder) { |prometheus| outcome(prometheus, data_bytes) }
      end
    end

    private

    def outcome(prometheus, data_bytes)
      rules_s = (median { evaluate_rules(prometheus) } if @source == :raw)
      cpu_ns = prometheus.cpu_ns
      comparison_s = (median { compare(prometheus) } if @hours_count)
      Outcome.new(workers_count: @fleet.workers_count, hours_count: @hours_count, source: @source.to_s, samples_count: @backfill.samples_count,
        data_bytes:, rules_s:, comparison_s:, cpu_s: ((prometheus.cpu_ns - cpu_ns) / 1e9 / @rounds_count if @hours_count))
    end

    # Of a fleet that is not all there they would be quick.
    def evaluate_rules(prometheus)
      client = PumaTuner::Fleet::Prometheus.new(prometheus.url, timeout_s: 120)
      rules = YAML.load_file(RULES)["groups"].flat_map { |group| group["rules"] }
      recorded = rules.to_h { |rule| [rule["record"], client.instant(rule["expr"], @ends_s)] }
      servers_count = recorded.fetch("fleet:puma_tuner_servers:count").sum { |series| series.values.each_value.sum }
      whole = servers_count * SimulatedFleet::WORKERS_PER_SERVER == @fleet.workers_count
      endpoints = recorded.fetch("fleet:puma_tuner_endpoint_request_duration_seconds_bucket:rate5m")
      raise "the rules saw #{servers_count.round} servers" unless whole && endpoints.any?
    end

    def compare(prometheus)
      selectors = %w[off on].map { |value| PumaTuner::Fleet::Selector.parse("yjit=\"#{value}\"") }
      question = PumaTuner::Fleet::Reader::Question.new(selectors:, ends: [@ends_s, @ends_s], duration_s: @hours_count * 3_600, step_s: nil, source: "auto", by: nil,
        all: PumaTuner::Fleet::Selector.parse("{}"), seed: 1)
      comparison = PumaTuner::Fleet::Reader.new(PumaTuner::Fleet::Prometheus.new(prometheus.url, timeout_s: 300), question).call
      ensure_truth(comparison)
    end

    # A fast answer that is wrong would be none.
    def ensure_truth(comparison)
      raise "the comparison used #{comparison.source}, not #{@source}" unless comparison.source == @source.to_s
      row = comparison.row("p99")
      %w[a b].each do |group|
        error_ratio = (row.public_send(group) / 1e9 / @fleet.true_quantile_s(group, 0.99) - 1).abs
        raise "p99 of #{group} is off by #{error_ratio.round(3)}" if error_ratio > row.error_ratio
      end
    end

    def median
      times = Array.new(@rounds_count) do
        began = PumaTuner::Clock.now_s
        yield
        PumaTuner::Clock.now_s - began
      end
      times.sort[times.size / 2]
    end
  end
end
