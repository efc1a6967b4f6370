# frozen_string_literal: true

require "net/http"
require "socket"
require "tmpdir"
require "puma_tuner"

# Debian's Prometheus on a loopback port, with a folder of its own; never the machine's service.
class PrometheusProcess
  # Where bin/setup unpacks it, when it is not on the PATH.
  FOLDERS = [*ENV.fetch("PATH", "").split(":"), File.join(ENV["PUMA_TUNER_CACHE"] || File.expand_path("~/.cache/puma_tuner"), "prometheus/usr/bin")].freeze
  READY_LIMIT_S = 60

  # @param name [String] "prometheus" or "promtool"
  # @return [String, nil]
  def self.find(name) = FOLDERS.map { |folder| File.join(folder, name) }.find { |path| File.executable?(path) }

  # @return [String, nil] why it can't be used here
  def self.why_not
    missing = %w[prometheus promtool].reject { |name| find(name) }
    "#{missing.join(" and ")} missing; `bin/setup --test` provides Debian's" if missing.any?
  end

  # @yieldparam prometheus [PrometheusProcess]
  def self.open(...)
    prometheus = new(...)
    prometheus.start
    yield prometheus
  ensure
    prometheus&.stop
  end

  attr_reader :port

  # @param folder [String] for its data
  # @param config [String] YAML
  def initialize(folder, config: "global: {scrape_interval: 15s}\n", options: [])
    @folder = folder
    @config = config
    @options = options
  end

  # @return [String]
  def data = File.join(@folder, "data")

  # @return [String]
  def url = "http://127.0.0.1:#{@port}"

  def start
    @port = TCPServer.open("127.0.0.1", 0) { |server| server.addr[1] }
    path = File.join(@folder, "prometheus.yml")
    File.write(path, @config)
    @log = File.join(@folder, "prometheus.log")
    @child = PumaTuner::Host::Child.new({"GOMAXPROCS" => "1"}, "nice", self.class.find("prometheus"), "--config.file=#{path}", "--storage.tsdb.path=#{data}", "--storage.tsdb.retention.time=400d",
      "--web.listen-address=127.0.0.1:#{@port}", "--log.level=warn", *@options, out: @log, err: %i[child out])
    @child.start
    wait_until_ready
  end

  def stop
    @child&.signal(:TERM)
    @child&.wait(READY_LIMIT_S)
    @child&.stop
  end

  # @return [Integer] CPU time so far
  def cpu_ns = PumaTuner::Probe::Processes.cpu_ns(@child.pid)

  private

  def wait_until_ready
    deadline = PumaTuner::Clock.now_s + READY_LIMIT_S
    until ready?
      raise "Prometheus did not come up:\n#{File.read(@log)}" if !@child.alive? || PumaTuner::Clock.now_s > deadline
      sleep 0.1
    end
  end

  def ready?
    Net::HTTP.get_response(URI("#{url}/-/ready")).is_a?(Net::HTTPSuccess)
  rescue SystemCallError
    false
  end
end
