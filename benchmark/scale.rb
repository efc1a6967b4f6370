# frozen_string_literal: true

# How recordings and their reports grow: with requests, endpoints and workers, each ten times as many. Workers record into real ledgers, which are read,
# written as a document, read again, made a model of, and shown as HTML in a headless Chromium. `rake scale`; ends with status 1 when the report of the
# largest is over its size, or opens too late. How a fleet grows: fleet_scale.

$LOAD_PATH.unshift(File.expand_path("../test", __dir__))
require_relative "support/bench"
require "browser/dev_tools"
require "tmpdir"

module Scale
  # What grows. requests_count, endpoints_count, workers_count: of a recording
  Size = Data.define(:requests_count, :endpoints_count, :workers_count) do
    def to_s = "#{Bench::Markdown.grouped(requests_count)} requests, #{endpoints_count} endpoints, #{workers_count} workers"
  end

  # The largest, and each dimension of it at a tenth.
  WHOLE = Size.new(1_000_000, 200, 64)
  SIZES = [WHOLE.with(requests_count: 100_000), WHOLE.with(endpoints_count: 20), WHOLE.with(workers_count: 6), WHOLE].freeze
  QUICK = [Size.new(1_000, 4, 2), Size.new(10_000, 4, 2)].freeze

  Options = Bench::Options.define("scale", page: "docs/measured/scale.md", needs: "all of it, not --quick", quick: Bench::Options::QUICK)

  REPORT_BYTES_MAX = 5 * PumaTuner::Units::MIB
  OPENS_MAX_S = 2.0

  # seconds of each step, by its name; bytes likewise
  Measured = Data.define(:size, :seconds, :bytes)

  # Workers as they record, but for the server around them.
  class Recording
    THREADS_COUNT = 5

    # One request in so many lets the GVL go a few times, so that its trace has steps.
    WAITING_EVERY = 10

    # @param size [Size]
    def initialize(size)
      @size = size
    end

    # @param folder [String] for the ledgers
    # @return [PumaTuner::Probe::Ledgers]
    def write(folder)
      ledgers = PumaTuner::Probe::Ledgers.new(folder)
      Array.new(@size.workers_count) { |index| fork { work(ledgers, index) } }.each { |pid| Process.wait(pid) }
      ledgers
    end

    private

    def work(ledgers, index)
      clock = PumaTuner::Probe::GvlClock
      clock.start
      why_not = clock.open_ledger(ledgers.new_path("ledger"), JSON.generate(facts(index))) and abort(why_not)
      entries = Array.new(@size.endpoints_count) { |number| clock.entry(PumaTuner::Probe::Ledger::KIND_NUMBERS[:request], "GET /things/#{number}/:id") }
      (@size.requests_count / @size.workers_count).times do |number|
        clock.job_begin
        3.times { IO.select(nil, nil, nil, 0) } if (number % WAITING_EVERY).zero?
        clock.request_end(entries[(number * 7 + index) % entries.size], nil, nil)
      end
      exit!(0)
    end

    def facts(index)
      server = PumaTuner::Probe::ServerFacts.new(ruby_version: RUBY_VERSION, ruby_description: RUBY_DESCRIPTION, yjit_enabled: false, puma_version: "8.0.2", rack_version: nil,
        thread_timeslice_ms: 100, rack_environment: "production")
      {way_in: "plugin", worker_index: index, why_not: nil, server: server.to_document, threads_count: THREADS_COUNT}
    end
  end

  # One recording, through all that is done with it.
  class Trial
    # When the page has loaded, and been painted after that: milliseconds since the browser was told to open it.
    PAINTED = <<~JS
      new Promise((done) => {
        const painted = () => requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now())));
        document.readyState === "complete" ? painted() : addEventListener("load", painted);
      })
    JS
    OPENINGS_COUNT = 3

    # @param size [Size]
    def initialize(size)
      @size = size
      @seconds = {}
      @bytes = {}
    end

    # @return [Measured]
    def run
      Dir.mktmpdir("puma_tuner-scale", File.writable?("/dev/shm") ? "/dev/shm" : nil) do |folder|
        ledgers = Recording.new(@size).write(folder)
        @bytes["ledgers, in memory"] = ledgers.paths.sum { |path| File.stat(path).blocks * 512 }
        through(ledgers)
      end
      Measured.new(size: @size, seconds: @seconds, bytes: @bytes)
    end

    private

    def through(ledgers)
      read = timed("read the ledgers once") { ledgers.read }
      observation = timed("make a recording of it") { PumaTuner::Probe::Snapshot.of(read, machine: PumaTuner::Probe::MachineFacts.read) }
      ensure_whole(observation)
      text = timed("write it") { PumaTuner::Document.dump(observation) }
      @bytes["recording"] = text.bytesize
      observation = timed("read it") { PumaTuner::Document.parse(text, "recording", [:observation]) }
      timed("make a model of it") { PumaTuner::Model::WorkloadFit.workload(observation) }
      page = timed("make the report") { PumaTuner::Report.render(observation, format: :html) }
      @bytes["report"] = page.bytesize
      @seconds["open the report"] = opening_s(page)
    end

    # A tenth that is quick because most is missing would be none.
    def ensure_whole(observation)
      counts = [observation.requests_count, observation.endpoints.size, observation.topology.workers_count]
      wanted = [@size.requests_count / @size.workers_count * @size.workers_count, @size.endpoints_count, @size.workers_count]
      raise "the recording has #{counts}, not #{wanted}" unless counts == wanted
    end

    # @return [Float, nil] the middle one, by the page's own clock; nil without a browser
    def opening_s(page)
      return unless Chromium.path
      Dir.mktmpdir("puma_tuner-scale") do |folder|
        File.write(path = File.join(folder, "report.html"), page)
        openings = Array.new(OPENINGS_COUNT) { DevTools.open { |tools| tools.visit("file://#{path}") && tools.value(PAINTED) / 1_000.0 } }
        Bench.median(openings)
      end
    end

    def timed(step)
      began = PumaTuner::Clock.now_s
      yield.tap { @seconds[step] = PumaTuner::Clock.now_s - began }
    end
  end

  # docs/measured/scale.md
  class Page < Bench::Page
    # @param measured [Array<Measured>] the largest last
    # @param quick [Boolean]
    def initialize(measured:, quick:, **)
      super(**)
      @measured = measured
      @quick = quick
    end

    # @return [Array<Symbol>]
    def outcomes = [met(largest.bytes["report"], REPORT_BYTES_MAX), met(largest.seconds["open the report"], OPENS_MAX_S)]

    # @return [String] Markdown
    def to_s
      <<~MARKDOWN
        # Scale: how recordings and reports grow

        Written by `bin/exec rake scale OPTIONS=--write`; not to be edited.

        #{facts}

        Processes recorded requests as a server's workers do, into real ledgers, and what they recorded went through all that is done with it. The last columns tell how much more there is
        with ten times as many requests, endpoints or workers: 1.0x is no more, 10x is in proportion.

        #{Bench::Markdown.table(["", largest.size.to_s, *growing.map { |dimension, _| "10 times the #{dimension}" }], rows)}

        The report is to have #{mib(REPORT_BYTES_MAX)} at most: #{Bench::OUTCOMES.fetch(outcomes.first)}. It is to open within #{OPENS_MAX_S.round} s: #{Bench::OUTCOMES.fetch(outcomes.last)}.
        A recording holds #{Bench::Markdown.grouped(PumaTuner::Probe::Account::TRACES_MAX)} traces of requests at most. How `fleet` grows: [fleet_scale.md](fleet_scale.md).
      MARKDOWN
    end

    def results = to_s

    private

    def largest = @measured.last

    def met(figure, most)
      return :not_shown unless figure
      (figure <= most) ? :met : :missed
    end

    # @return [Array<Array(String, Measured)>] what differs from the largest, and the smaller one
    def growing
      @measured[0..-2].map do |one|
        member = Size.members.find { |name| one.size.public_send(name) != largest.size.public_send(name) }
        [member.name.delete_suffix("_count"), one]
      end
    end

    def rows
      [*largest.bytes.map { |name, bytes| [name, mib(bytes), *growing.map { |_, one| times(bytes, one.bytes[name]) }] },
        *largest.seconds.map { |name, s| [name, s ? "#{s.round(2)} s" : "-", *growing.map { |_, one| times(s, one.seconds[name]) }] }]
    end

    def times(more, less) = (more && less&.positive?) ? "#{more.fdiv(less).round(1)}x" : "-"

    def mib(bytes) = format("%.1f MiB", bytes.fdiv(PumaTuner::Units::MIB))
  end
end

Bench.program(__FILE__, Scale::Options) do |options, machine|
  measured = (options.quick ? Scale::QUICK : Scale::SIZES).map { |size| Scale::Trial.new(size).run.tap { warn "scale: #{size}" } }
  Scale::Page.new(machine:, measured:, quick: options.quick)
end
