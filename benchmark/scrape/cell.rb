# frozen_string_literal: true

module Scrape
  # A server of some workers and endpoints, in which every endpoint has been asked for by every worker, with durations from a
  # millisecond to a second: the most that there can be to read.
  class Cell
    HEADINGS = ["workers", "endpoints", "series", "answer", "CPU of a scrape", "of a core, every 15 s", "CPU with nothing new"].freeze
    DURATIONS_COUNT = 200
    SCRAPE_S = 15

    Export = PumaTuner::Export

    def initialize(workers_count, endpoints_count, rounds_count)
      @workers_count = workers_count
      @endpoints_count = endpoints_count
      @rounds_count = rounds_count
    end

    # @return [Array<String>]
    def row
      Dir.mktmpdir("scrape", PumaTuner::Host::ScratchFolder.path) do |folder|
        @ledgers = PumaTuner::Probe::Ledgers.new(folder)
        @workers_count.times { |index| write(index) }
        text, cpu_ns, idle_ns = measured
        series_count = text.lines.grep_v(/\A#/).size
        [@workers_count.to_s, @endpoints_count.to_s, PumaTuner::Report::Figures.count(series_count), "#{text.bytesize / 1_024} KiB", PumaTuner::Units.duration(cpu_ns), PumaTuner::Units.percent(cpu_ns / 1e9 / SCRAPE_S), PumaTuner::Units.duration(idle_ns)]
      end
    end

    # @return [String]
    def self.gauges_cost
      Dir.mktmpdir do |folder|
        gauges = Export::ProcessGauges.new(folder, server: nil, worker_index: 0)
        gauges.write
        began = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID, :nanosecond)
        100.times { gauges.write }
        PumaTuner::Units.duration((Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID, :nanosecond) - began) / 100)
      end
    end

    private

    # A process that lives: what one has left that has ended is read once only.
    def write(index)
      ready, tell = IO.pipe
      @stops = [*@stops, IO.pipe]
      pid = fork do
        PumaTuner::Probe::GvlClock.start
        PumaTuner::Probe::GvlClock.open_ledger(@ledgers.new_path("ledger"), JSON.generate({worker_index: index}))
        fill
        Export::ProcessGauges.new(@ledgers.directory, server: nil, worker_index: index).write
        tell.close
        @stops.last.last.close
        @stops.last.first.read
        exit!(0)
      end
      @pids = [*@pids, pid]
      tell.close
      ready.read
    end

    # Requests take no time: durations are written over the entries' own histograms.
    def fill
      random = Random.new(1)
      layout = PumaTuner::Probe::Ledger::LAYOUT
      entries = Array.new(@endpoints_count) { |number| PumaTuner::Probe::GvlClock.entry(PumaTuner::Probe::Ledger::KIND_NUMBERS[:request], "GET /things/#{number}/:id") }
      entries.each { |entry| DURATIONS_COUNT.times { PumaTuner::Probe::GvlClock.job_begin && PumaTuner::Probe::GvlClock.request_end(entry, nil, nil) } }
      File.open(@ledgers.paths.last, "r+b") do |file|
        entries.each do |entry|
          buckets = Array.new(DURATIONS_COUNT) { PumaTuner::Probe::Histogram.bucket_of((1e6 * 1_000**random.rand).round) }.tally
          bytes = Array.new(layout[:buckets_count]) { |bucket| buckets.fetch(bucket, 0) }.pack("Q*")
          [0, 1, 4].each { |part| file.pwrite(bytes, layout[:histograms_offset] + (entry * layout[:histograms_count] + part) * bytes.bytesize) }
        end
      end
    end

    def cpu_ns
      began = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID, :nanosecond)
      yield
      Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID, :nanosecond) - began
    end

    def measured
      server = text = nil
      # Each time as if for the first, so that nothing is kept: all endpoints were asked for in between.
      times = Array.new(@rounds_count) do
        server = Export::Server.new(@ledgers, leader_pid: Process.pid)
        cpu_ns { text = Export::Text.of(server.families, server.labels) }
      end
      sleep(Export::Server::FRESH_S)
      [text, times.sort[times.size / 2], cpu_ns { Export::Text.of(server.families, server.labels) }]
    ensure
      @stops.each { |_, io| io.close unless io.closed? }
      @pids.each { |pid| Process.wait(pid) }
    end
  end
end
