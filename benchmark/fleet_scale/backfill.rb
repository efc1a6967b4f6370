# frozen_string_literal: true

require_relative "../support/prometheus_process"

module FleetScale
  # Puts samples into a Prometheus' folder, before it runs, by `promtool`.
  class Backfill
    # promtool reads its file once for each block, and blocks are of two hours: a file for each.
    BLOCK_S = 7_200

    # samples_count, text_bytes: as they were written; seconds: of promtool alone
    Done = Data.define(:samples_count, :text_bytes, :seconds)

    # @param data [String] the folder
    # @param scratch [String] another, for the files
    def initialize(data, scratch)
      @data = data
      @scratch = scratch
      @done = Done.new(samples_count: 0, text_bytes: 0, seconds: 0.0)
      FileUtils.mkdir_p(data)
    end

    # @return [Done] so far
    attr_reader :done

    # @param times [Array<Integer>] of all samples
    # @yieldparam times [Array<Integer>] those of one file
    # @yieldparam io [IO]
    # @yieldreturn [Integer] samples written
    def in_blocks(times)
      times.group_by { |time_s| time_s / BLOCK_S }.each_value { |some| one(some) { |io| yield(some, io) } }
    end

    # Rules that are evaluated over what is there.
    def rules(path, url:, begins_s:, ends_s:)
      run("tsdb", "create-blocks-from", "rules", "--url=#{url}", "--start=#{begins_s}", "--end=#{ends_s}", "--eval-interval=60s", "--output-dir=#{@data}", path)
    end

    private

    def one(times)
      path = File.join(@scratch, "#{times.first}.om")
      count = File.open(path, "w") { |io| yield(io) }
      began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      run("tsdb", "create-blocks-from", "openmetrics", "-q", path, @data)
      @done = Done.new(samples_count: @done.samples_count + count, text_bytes: @done.text_bytes + File.size(path), seconds: @done.seconds + Process.clock_gettime(Process::CLOCK_MONOTONIC) - began)
    ensure
      FileUtils.rm_f(path)
    end

    def run(*words)
      output = IO.popen([{"GOMAXPROCS" => "1"}, "nice", PrometheusProcess.find("promtool"), *words, err: %i[child out]], &:read)
      raise "promtool #{words.first(3).join(" ")} failed:\n#{output}" unless $?.success?
    end
  end
end
