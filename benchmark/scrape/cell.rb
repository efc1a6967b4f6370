# frozen_string_literal: true

module Scrape
  # A server of some workers and endpoints, in which every endpoint has been asked for in every worker, and its exporter's process.
  class Cell
    HEADINGS = ["workers", "endpoints", "series", "response", "all new: answered in", "its CPU", "of a core, every 15 s", "nothing new: CPU", "memory"].freeze
    DURATIONS_COUNT = 200
    SCRAPE_S = 15

    Export = PumaTuner::Export
    Probe = PumaTuner::Probe

    # @return [Array<Float>] how long responses took, when all was new
    attr_reader :new_ms

    def initialize(workers_count, endpoints_count, rounds_count)
      @workers_count = workers_count
      @endpoints_count = endpoints_count
      @rounds_count = rounds_count
      @workers = []
    end

    def run
      Dir.mktmpdir("scrape", PumaTuner::Host::ScratchFolder.path) do |folder|
        @ledgers = Probe::Ledgers.new(folder)
        @workers_count.times { |index| fork_worker(index) }
        with_exporter { measure }
      ensure
        @workers.each { |pid, io| io.close && Process.wait(pid) }
      end
    end

    # @return [Array<String>]
    def row
      cpu_ns, idle_ns = [@new_ns, @idle_ns].map { |all| Bench.median(all) }
      [@workers_count.to_s, @endpoints_count.to_s, PumaTuner::Report::Figures.count(@text.lines.grep_v(/\A#/).size), "#{@text.bytesize / 1_024} KiB",
        PumaTuner::Units.duration(Bench.median(@new_ms) * PumaTuner::Units::NS_PER_MS), PumaTuner::Units.duration(cpu_ns), PumaTuner::Units.percent(cpu_ns / 1e9 / SCRAPE_S),
        PumaTuner::Units.duration(idle_ns), "#{@memory_bytes / PumaTuner::Units::MIB} MiB"]
    end

    # @return [String]
    def self.gauges_cost
      Dir.mktmpdir do |folder|
        gauges = Export::ProcessGauges.new(folder, server: nil, worker_index: 0)
        gauges.write
        began_ns = PumaTuner::Clock.cpu_ns
        100.times { gauges.write }
        PumaTuner::Units.duration((PumaTuner::Clock.cpu_ns - began_ns) / 100)
      end
    end

    private

    # One that serves all endpoints once when it is told to.
    def fork_worker(index)
      ours, theirs = UNIXSocket.pair
      pid = fork do
        ours.close
        Probe::GvlClock.start
        Probe::GvlClock.open_ledger(path = @ledgers.new_path("ledger"), JSON.generate({worker_index: index}))
        entries = Array.new(@endpoints_count) { |number| Probe::GvlClock.entry(Probe::Ledger::KIND_NUMBERS[:request], "GET /things/#{number}/:id") }
        DURATIONS_COUNT.times { serve(entries) }
        write_durations(path, entries)
        gauges = Export::ProcessGauges.new(@ledgers.directory, server: nil, worker_index: index)
        theirs.puts if gauges.write
        serve(entries) && gauges.write && theirs.puts while theirs.gets
        exit!(0)
      end
      theirs.close
      ours.gets
      @workers << [pid, ours]
    end

    def serve(entries) = entries.each { |entry| Probe::GvlClock.job_begin && Probe::GvlClock.request_end(entry, nil, nil) }

    # Requests take no time: durations are written over the entries' own histograms.
    def write_durations(path, entries)
      random = Random.new(1)
      layout = Probe::Ledger::LAYOUT
      File.open(path, "r+b") do |file|
        entries.each do |entry|
          buckets = Array.new(DURATIONS_COUNT) { Probe::Histogram.bucket_of((1e6 * 1_000**random.rand).round) }.tally
          bytes = Array.new(layout[:buckets_count]) { |bucket| buckets.fetch(bucket, 0) }.pack("Q*")
          Export::LedgerReader::PLACES.each { |place| file.pwrite(bytes, layout[:histograms_offset] + (entry * layout[:histograms_count] + place) * bytes.bytesize) }
        end
      end
    end

    def with_exporter
      @address = Export::Address.parse("unix://#{@ledgers.directory}/exporter.sock")
      supervisor = Export::Exporter.supervisor({leader_pid: Process.pid, leader: Probe::Processes.identity(Process.pid), directory: @ledgers.directory,
        address: @address.to_s, labels: {}, endpoints_max: 200})
      thread = supervisor.start
      yield
    ensure
      supervisor&.stop
      thread&.join
    end

    def measure
      sleep(0.05) until File.socket?(@address.host_or_path)
      title = "puma_tuner exporter of #{Process.pid}"
      @exporter_pid = Dir.children("/proc").map(&:to_i).find { |pid| pid.positive? && Probe::Processes.command_line(pid) == title }
      ask # what it finds for the first time
      pairs = Array.new(@rounds_count) do
        @workers.each { |_, io| io.puts }.each { |_, io| io.gets }
        [ask, ask]
      end
      @new_ms = pairs.map { |(ms, _), _| ms }
      @new_ns, @idle_ns = pairs.map { |pair| pair.map(&:last) }.transpose
      @memory_bytes = Probe::Processes.memory(@exporter_pid)[:rss_bytes]
    end

    # @return [Array(Float, Integer)] milliseconds until there was a response, and the exporter's CPU nanoseconds
    def ask
      sleep(Export::Server::FRESH_S)
      cpu_ns = Probe::Processes.cpu_ns(@exporter_pid)
      began_ns = PumaTuner::Clock.now_ns
      @text = @address.get
      answered_ns = PumaTuner::Clock.now_ns
      [(answered_ns - began_ns).fdiv(PumaTuner::Units::NS_PER_MS), Probe::Processes.cpu_ns(@exporter_pid) - cpu_ns]
    end
  end
end
