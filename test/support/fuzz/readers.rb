# frozen_string_literal: true

require "puma_tuner"
require "fileutils"
require "rbconfig"
require "socket"
require "stringio"
require "zlib"
require "support/builders"
require_relative "documents"
require_relative "trial"

module Fuzz
  # All that reads what somebody else wrote, each with a few inputs that are as they should be.
  module Readers
    PROJECT = File.expand_path("../../..", __dir__)
    TP = PumaTuner

    # What JSON.parse gives to those whose callers rescue it.
    JSON_REFUSALS = [JSON::ParserError, KeyError, TypeError].freeze

    module_function

    # @return [Array<Reader>]
    def all = [*documents, *texts, words, what_if, *journals, *profiles, *of_servers, control_group, prometheus, profiled_request, responses]

    # @param count [Integer] of inputs
    # @return [Hash{Reader => Integer}] shares of them, together so many at least: a reader in C is quicker, and has more
    def shares(count, readers = all)
      weights = readers.to_h { |reader| [reader, (reader.name == "http responses") ? 12 : 1] }
      weights.transform_values { |weight| (count * weight).ceildiv(weights.values.sum) }
    end

    # Read, and shown as text; now and then as HTML.
    def documents
      Documents.all.map do |kind, value|
        Reader.new(name: "document #{kind}", seeds: [TP::Document.dump(value)], json: :whole, read: lambda do |path|
          format = (File.size(path) % 16 == 0) ? :html : :text
          TP::Document.reading(path) { |one| TP::Report.render(one, format:) }
        end)
      end << modelled << advised << lanes_of_others
    end

    # As the command writes them for other programs.
    def lanes_of_others
      Reader.new(name: "lanes, for other programs", seeds: [TP::Document.dump(Documents.made(LaneFixture).lane_comparison)], json: :whole, read: lambda do |path|
        format = File.size(path).even? ? "firefox" : "perfetto"
        TP::CLI::Commands::Lanes.new(out: StringIO.new, err: StringIO.new).call(recording: path, beside: [], format:, output: "-")
      end)
    end

    # What forecasts are made of.
    def modelled
      Reader.new(name: "observation, as a model", seeds: [TP::Document.dump(Documents.modelled)], json: :whole, read: method(:model_of))
    end

    # @return [Array(Probe::Observation, Model::Workload, Model::Machine)]
    def model_of(path)
      TP::Document.reading(path, :observation) { |one| [one, TP::Model::WorkloadFit.workload(one), TP::Model::MachineFit.machine(one)] }
    end

    # What `predict` and `advise` make of one, by few and short simulations; shown where they show it, which is outside of the wrapper.
    def advised
      Reader.new(name: "observation, forecast and advised", seeds: [TP::Document.dump(Documents.modelled)], json: :whole, read: lambda do |path|
        observation, workload, machine = model_of(path)
        results = TP::Document.fitting(path) { long?(workload) ? [] : advice_of(observation, workload, machine) }
        results.each { |value| TP::Report.render(value, format: :text) }
      end)
    end

    # @return [Array(Predict::Sweep, Advise::AdviceList)]
    def advice_of(observation, workload, machine)
      limits = TP::Predict::Limits.of(workload, machine)
      sweeper = TP::Predict::Sweeper.new(workload:, machine:, seed: 1, seeds_count: 2, requests_count: 100, limits:)
      topologies = [workload.observed_topology, TP::Topology.from(2, 3)].uniq
      scenarios = topologies.map { |topology| TP::Predict::Scenario.as_recorded(workload, topology) }
      constraints = TP::Advise::Constraints.new.inside(observation.machine)
      TP::Advise.call(workload, sweeper, scenarios, constraints, observation:) { |some| sweeper.call(some) }
    end

    # What takes long to simulate, and has an end all the same: many clients or threads, a self-check of as many requests as were recorded, and
    # requests that compute for minutes, unless they are refused as it is for hours.
    def long?(workload)
      long_ns = 100 * TP::Units::NS_PER_S..TP::Predict::RecordedRequests::LONGEST_CPU_NS
      swamped?(workload) || workload.arrivals.connections_count > 2_000 ||
        workload.recorded.any? { |one| one.requests_count > 200 || one.topology.slots_count > 200 } ||
        workload.endpoints.flat_map(&:demands).any? { |demand| long_ns.cover?(demand.held_ns + demand.compute_ns) }
    end

    # So do many threads, of requests that last for an hour, and millions that arrive meanwhile.
    def swamped?(workload)
      arrivals, longest_ns = workload.arrivals, workload.endpoints.map(&:mean_ns).max
      arrivals.open? && arrivals.rate_per_s * longest_ns > 100_000 * TP::Units::NS_PER_S
    end

    REQUESTS = <<~TEXT
      # requests
      setup GET /login pick:token=meta:csrf-token
      setup POST /login header:Content-Type=application/json body:'{"t":"{{token}}"}' expect:302
      3 GET /articles/{{id}}?q={{word}} has:Welcome expect:200,404
      GET / header:"X-A=b c"
      1 HEAD /x
    TEXT
    DATA = "id,word\n1,a\n2,\"b,\"\"c\"\n3,é\n"
    LOGS = [
      "192.0.2.1 - ada [10/Oct/2026:13:55:36 +0200] \"GET /articles/42?q=slow+app&page=2 HTTP/1.1\" 200 2326 \"-\" \"curl/8.5\"\n" * 3,
      "https 2026-10-10T13:55:36.123456Z app/my-lb/50dc6c 192.0.2.1:2817 10.0.0.1:80 0.001 0.020 0.002 200 200 34 366 \"GET https://www.example.com:443/articles/42?q=a HTTP/2.0\" \"curl\" -\n" * 3,
      "I, [2026-10-10T13:55:36.123456 #17]  INFO -- : [9d6b] Started GET \"/articles/42?q=a&b[]=%41\" for 192.0.2.1 at 2026-10-10 13:55:36 +0000\n" * 3,
      *(LINES_WITH_TIMES = [
        "I, [2026-10-10T13:55:36.123456 #17]  INFO -- : [9d6b] method=GET path=/articles/42?q=a format=html controller=ArticlesController action=show status=200 duration=12.34 view=5.60\n" * 3,
        "{\"method\":\"GET\",\"path\":\"/articles/42\",\"format\":\"html\",\"status\":200,\"duration\":12.34,\"@timestamp\":\"2026-10-10T13:55:36.123Z\"}\n" * 3,
        "{\"time\":\"2026-10-10T13:55:36.123Z\",\"path\":\"/articles/42\",\"status\":200,\"target\":\"0a1b:80\",\"duration\":30251374,\"method\":\"GET\",\"resp_content_length\":2326,\"query\":\"q=a\"}\n" * 3,
        "2026-10-10T13:55:36.123456+00:00 heroku[router]: at=info method=GET path=\"/articles/42?q=a\" host=www.example.com fwd=\"192.0.2.1\" dyno=web.1 connect=1ms service=18ms status=200 bytes=9\n" * 3,
        "{\"time_local\":\"10/Oct/2026:13:55:36 +0000\",\"msec\":1791640536.123,\"request\":\"GET /articles/42?q=a HTTP/1.1\",\"status\":\"200\",\"request_time\":0.012,\"upstream_response_time\":\"0.003, 0.007\"}\n" * 3,
        "{\"level\":\"info\",\"ts\":1791640536.123,\"msg\":\"handled request\",\"request\":{\"method\":\"GET\",\"host\":\"www.example.com\",\"uri\":\"/articles/42?q=a\"},\"duration\":0.0123,\"size\":2326,\"status\":200}\n" * 3,
        "{\"timestamp\":\"2026-10-10T13:55:36.123456Z\",\"level\":\"info\",\"duration_ms\":12.34,\"payload\":{\"method\":\"GET\",\"path\":\"/articles/42\",\"status\":200}}\n" * 3
      ].freeze),
      # One name again and again: as often as counts, and more often.
      [200, 3_000].map { |count| "192.0.2.1 - - [10/Oct/2026:13:55:36 +0200] \"GET /s?#{"a=1&a_2=b&" * (count / 2)} HTTP/1.1\" 200 2326 \"-\" \"curl/8.5\"\n" }.join
    ].freeze

    TIMED_LOGS = [
      "192.0.2.1 - - [10/Oct/2026:13:55:36 +0200] \"GET /articles/42 HTTP/1.1\" 200 2326 \"-\" \"curl/8.5\" rt=0.123 urt=0.120\n" * 3, LOGS[1],
      "I, [2026-10-10T13:55:36.123456 #17]  INFO -- : [9d6b] Started GET \"/a\" for 192.0.2.1 at 2026-10-10 13:55:36 +0000\n" \
      "I, [2026-10-10T13:55:36.153456 #17]  INFO -- : [9d6b] Completed 200 OK in 12ms (Views: 3.1ms)\n" * 2,
      *LINES_WITH_TIMES
    ].freeze

    # Read by its name alone.
    APACHE = "192.0.2.1 - - [10/Oct/2026:13:55:36 +0200] \"GET /articles/42 HTTP/1.1\" 200 2326 \"-\" \"curl/8.5\" 0/12345\n" * 3

    def texts
      [
        Reader.new(name: "request file", seeds: [REQUESTS], read: lambda { |path|
          File.write(data = "#{path}.csv", DATA)
          mix = TP::Load::Mix.read(path, data_path: data)
          mix.order(1)
          mix.requests.each { |request| mix.filled(request, 1).first(2) unless mix.set_up.any? }
          TP::Load::NativePlan.new(mix:, url_base: "http://127.0.0.1:9", connections_count: 1, duration_s: 1, seed: 1, arrivals: TP::Load::Arrivals.closed).to_h
        }),
        Reader.new(name: "data file", seeds: [DATA, "\xEF\xBB\xBFid;word\r\n1;a\r\n"], read: lambda { |path|
          data = TP::Load::DataFile.read(path)
          request = TP::Load::Request.new(path: "/a?q={{#{data.columns.first}}}")
          template = TP::Load::Template.new(request)
          data.rows.first(3).each { |row| template.filled(row) if (template.names - data.columns).empty? }
        }),
        Reader.new(name: "access log", seeds: LOGS, read: method(:read_log)),
        packed_log,
        timed_log("access log with times", TIMED_LOGS),
        timed_log("access log of Apache", [APACHE], format: "apache"),
        Reader.new(name: "arrivals", seeds: ["# times\n0.5\n1.25\n7\n", "1795000000.123\n1795000000.456\n"], read: lambda { |path|
          TP::CLI::Loads.allocate.send(:times_ns, path)
        }),
        puma_file, database_yml
      ]
    end

    PUMA_RB = <<~RUBY
      threads_count = Integer(ENV.fetch("RAILS_MAX_THREADS", 3))
      threads threads_count, threads_count
      workers ENV.fetch("WEB_CONCURRENCY") { 2 }
      preload_app! false
      before_worker_boot { GC.config(rgengc_allow_full_mark: false) }
      port ENV["PORT"] || 3000
    RUBY

    # Somebody's puma.rb, with lines of advice in it.
    def puma_file
      Reader.new(name: "puma.rb", seeds: [PUMA_RB, "threads 5, 5\nworkers 2 if ENV[\"X\"]\n__END__\nx\n"], read: lambda { |path|
        file = TP::Advise::PumaFile.new(File.read(path))
        raise TP::UsageError, "it is not Ruby: see advise/patch.rb" unless file.ruby?
        edited = file.with("workers 3\nthreads 4, 4\npreload_app!\nbefore_fork { GC.compact }", "advised")
        raise "it is no Ruby any more" unless TP::Advise::PumaFile.new(edited.source).ruby?
      })
    end

    DATABASE_YML = <<~YAML
      default: &default
        pool: <%= ENV.fetch("RAILS_MAX_THREADS") { 5 } %> # places
      production:
        primary: {<<: *default, adapter: x}
        queue:
          <<: *default
          pool: 7
    YAML

    # A size is changed where it stands, and nowhere else.
    def database_yml
      Reader.new(name: "database.yml", seeds: [DATABASE_YML, "production:\n  pool: 5\n"], read: lambda { |path|
        TP::Advise::PoolVariable.send(:read, path)
        of_production = ->(yaml) { TP::Advise::DatabaseYml.new(yaml, environment: "production") }
        file = of_production.call(File.read(path, encoding: Encoding::UTF_8))
        key = file.key("max_connections")
        sizes = file.sizes(key)
        next unless sizes.one? && sizes.first.match?(/\A\d+\z/)
        raise "another place was changed" unless of_production.call(file.with(key, "8")).sizes(key) == ["8"]
      })
    end

    # An option of the dictionary and its value, or one of PARTS.
    WORDS = <<~TEXT
      memory 2GiB
      slo GET /articles/:id: 99.9% < 1.5s
      at 7200/min
      threads 1..8,16
      time 1.5h
      precision 2%
      topologies 1x5,2x3
      settings none
      duration 8.5
      every 0.5
      seed 7
      yjit_memory 32,64
      rates 50,100.5
      percentile 99.9
      window 7d
      instant 2026-03-02T10:00:00Z
      selector {yjit="off",service=~"shop|admin"}
      listen tcp://127.0.0.1:0
      expect fast: p99 <= 0.9
      expect 97.5% < 300ms
      variant old:gem.json=2.7.2,env.A=1|2
      factor threads=3,5
      allow gem rack
      url http://127.0.0.1:9090/prometheus
    TEXT

    # Values that a part of the program reads by itself.
    PARTS = {
      "rates" => ->(text) { TP::CLI::Parse.rates("--rate", text) },
      "percentile" => ->(text) { TP::CLI::Parse.percentile("--percentiles", text) },
      "window" => ->(text) { TP::Fleet::Window.of(1_795_000_000, TP::Fleet::Window.seconds("--window", text)) },
      "instant" => ->(text) { TP::Fleet::Window.of(TP::Fleet::Window.instant("--a-end", text), 3_600) },
      "selector" => ->(text) { TP::Fleet::Selector.parse(text).of("up") },
      "listen" => ->(text) { TP::Top::Web.address(text).to_s }, "expect" => ->(text) { TP::Prove::Expectations.parse([text]).metrics },
      "variant" => ->(text) { TP::Prove::VariantParser.parse([text]) }, "factor" => ->(text) { TP::Prove::VariantParser.factorial([text]) },
      "allow" => ->(text) { TP::Prove::Factors.allowed([text]) },
      "url" => ->(text) { TP::Fleet::Prometheus.new(text, headers: ["X-Scope-OrgID: team"]).to_s }
    }.freeze

    # What is read goes into documents, and has to come out of them again.
    def words
      Reader.new(name: "words of the command", seeds: WORDS.lines, read: lambda { |path|
        lines(path).each do |line|
          values = [value_of(*line.split(" ", 2))].flatten.grep(TP::Document::Writing)
          values.each { |value| value.class.from_document(JSON.parse(JSON.generate(value.to_document))) }
        end
      })
    end

    def value_of(name = nil, text = "")
      return quietly { PARTS.fetch(name).call(text) } if PARTS.key?(name)
      option = TP::CLI::Dictionary::ALL[name.to_s.to_sym]
      quietly { option.read(text) } if option&.value?
    end

    # Words of a command: none has a zero in it.
    def lines(path)
      File.binread(path).delete("\0").force_encoding(Encoding::UTF_8).lines(chomp: true)
        .tap { |all| TP::CLI::CommandLine.ensure_text(all) }
    end

    # As the command has it: Ruby warns of numbers beyond all numbers.
    def quietly
      verbose, $VERBOSE = $VERBOSE, false
      yield
    ensure
      $VERBOSE = verbose
    end

    WHAT_IFS = <<~TEXT
      cpu(/articles)*0.7
      cpu+500us
      io(db, /articles)-20ms
      io=0
      gc(POST /orders/:id)*50%
      yjit*1.2
      overhead*0.5
      traffic*2
      rate=300
      connections=50
      mix(/articles)=0.5
      weight(/articles)*2
      cores=4
      puma=7.2
      without thread cron
      without lock lock 0
      without releases file
      size(lock 1)=10
    TEXT

    # What is assumed of an app, and what comes of it, simulated.
    def what_if
      app, machine = assumed
      Reader.new(name: "what-if", seeds: WHAT_IFS.lines, read: lambda { |path|
        workload, on = quietly { TP::Predict::WhatIf.parse(lines(path)).apply(app, machine) }
        next if swamped?(workload)
        workload = workload.with(background: [].freeze)
        scenario = TP::Predict::Scenario.as_recorded(workload, TP::Topology.from(1, 1))
        TP::Predict::Engine.call(TP::Predict::Plan.new(workload:, machine: on, scenario:, seed: 1, requests_count: 20))
      })
    end

    # @return [Array(Model::Workload, Model::Machine)] with something of all that can be changed
    def assumed
      build = Documents.made(Builders)
      orders = build.demand([1, 2, 3, 4, 5, 6, 7], [0, 2, 0, 1, 0.01, 1], wait_kinds: %w[acquire file release] * 2, gc_ms: 1)
      of_articles = build.demand([2, 3, 1], [5, 10], wait_kinds: %w[db io])
      endpoints = [build.endpoint_demand(of_articles, name: "GET /articles", weight_ratio: 0.75),
        build.endpoint_demand(orders, name: "POST /orders/:id", weight_ratio: 0.25)]
      background = [TP::Model::BackgroundDemand.new(name: "cron", burst_ns: 3_000_000, gap_ns: 200_000_000)]
      [build.workload(endpoints:, kinds_of_locks: ["mutex", ["pool", 2]], overhead_cpu_ns: 40_000, background:), build.machine]
    end

    # Half of them are changed as text, and packed then: hardly anything can be unpacked that was changed when it was packed.
    def packed_log
      packed = LOGS.map { |log| Zlib.gzip(log) }
      Reader.new(name: "access log, packed", seeds: [*packed, packed.join, *LOGS], read: lambda { |path|
        bytes = File.binread(path)
        File.binwrite(path, Zlib.gzip(bytes)) unless bytes.start_with?("\x1F\x8B".b)
        read_log(path)
      })
    end

    def timed_log(name, seeds, format: nil)
      Reader.new(name:, seeds:, read: lambda { |path|
        log = TP::Compare::Log.new(path, format:)
        log.read(seen_from: log.seen_from.first, random: Random.new(1)).tally
      })
    end

    def read_log(path)
      reader = TP::AccessLog::Reader.new(path)
      summary = TP::AccessLog::Summary.new(reader, resolution_ns: reader.resolution_ns) { |one| TP::Probe::Endpoint::Path.name(one) }
      writer = TP::AccessLog::RequestWriter.new(summary, groups_max: 20, source: "log", values: true)
      [writer.requests, writer.data, writer.arrivals(10)]
    end

    def journals
      [trial_journal, auto_journal, proof_journal, state("record of proofs", measured) { |path, say| TP::Advise::ProofRecord.new(path, say:) },
        state("track record", {"metric" => "p99", "log_ratio" => 0.25, "scenario" => "1x5", "machine" => nil, "date" => "2026-01-01T00:00:00Z"}) { |path, say| TP::Predict::TrackRecord.new(path, say:) }]
    end

    def measured
      TP::Advise::Measured.new(**TP::Advise::Measured.members.to_h { |member| [member, nil] }, rule: "topology", metric: "p99", outcome: :better, measured_at: "2026-01-01T00:00:00Z",
        today: TP::Topology.parse("1x5"), topology: TP::Topology.parse("2x3")).to_document
    end

    # What can't be read is put aside, and that has to be said with a reason.
    #
    # @param entry [Hash] of an app
    # @yieldparam path [String]
    # @yieldparam say [#call]
    # @yieldreturn [ProofRecord, TrackRecord]
    def state(name, entry)
      text = JSON.generate({"schema_version" => 1, "apps" => {"app" => [entry] * 2}, "endpoints" => {"app" => ["GET /"]}})
      Reader.new(name:, seeds: [text], json: :whole, read: lambda do |path|
        said = []
        record = yield(path, ->(text) { said << text.sub(path, "").sub(/it is now .*?,/, "") })
        record.respond_to?(:of) ? record.of("app") && record.by_endpoints({"GET /" => 1}) : record.past_error("app") && record.past_error_by_endpoints({"GET /" => 1})
        raise TP::UsageError, said.join(" ") if said.any? || Dir["#{path}.*.unread"].any?
      ensure
        FileUtils.rm_f(Dir["#{path}.*.unread"])
      end)
    end

    def trial_journal
      build = Documents.made(TrialsMade)
      plan = build.plan(periods_count: 4)
      text = StringIO.new
      journal = TP::Trial::Journal.new(text)
      journal.begin(plan, started_at: "2026-01-01T00:00:00Z", server_pid: 7)
      readings = build.readings(plan, seconds: 3) { {} }
      readings.each_index { |place| journal.look(readings[place], TP::Trial::Decision.of(plan, readings.first(place + 1))) }
      journal.end(nil, restored: true)
      Reader.new(name: "journal of a trial", seeds: [text.string], json: :lines, read: ->(path) { replay(TP::CLI::Commands::Trial, path) })
    end

    # A step that was tried on one worker, and kept by all of them after it.
    def auto_journal
      build = Documents.made(TrialsMade)
      text = StringIO.new
      journal = TP::Trial::AutomaticJournal.new(text)
      journal.begin(mode: :auto, cool_down_s: 60, started_at: "2026-01-01T00:00:00Z", server_pid: 7)
      situation, plan = build.situation, build.plan(periods_count: 1) # as Trial::Automatic makes it
      readings, ended = looked(journal, plan, build.readings(plan, seconds: 8) { {} })
      outcome = TP::Trial::Step.outcome(TP::Trial::Step.of(situation, cool_down_s: 60), mode: :auto, plan:, readings:, ended:)
      journal.told(TP::Trial::Automatic::Told.new(at_s: 1_001.0, threads_count: 5, statement: outcome, situation:))
      all = TP::Trial::Plan.of_all(5, pids: plan.pids, period_s: 10.0, settle_s: 2, memory_limit_bytes: nil)
      _, ended = looked(journal, all, build.readings(all, seconds: 8) { {} }, before: TP::Trial::Decision.baseline(plan, readings))
      journal.told(TP::Trial::Automatic::Told.new(at_s: 1_061.0, threads_count: 5, statement: TP::Trial::Step.watched(all, ended), situation: nil))
      Reader.new(name: "journal of auto", seeds: [text.string], json: :lines, read: ->(path) { replay(TP::CLI::Commands::Auto, path) })
    end

    # @return [Array(Array<Reading>, Statement)] what was read, and why it ended, or nil
    def looked(journal, plan, readings, before: nil)
      journal.plan(plan)
      decided = readings.each_index.map { |place| TP::Trial::Decision.of(plan, readings.first(place + 1), before:) }
      readings.zip(decided) { |reading, decision| journal.look(reading, decision) }
      [readings, decided.compact.last]
    end

    # As the command shows it.
    def replay(command, path)
      needed = command.instance_method(:call).parameters.filter_map { |kind, name| [name, nil] if kind == :keyreq }.to_h
      command.new(out: StringIO.new, err: StringIO.new).call(**needed, replay: path)
    end

    PLAN = {"variants" => %w[a b], "seed" => 1}.freeze

    def proof_journal
      verdict = TuningFixture.verdict
      trials = Documents.fewer(verdict.trials)
      times = TP::Prove::TrialRunner::Times.new(warmup_window_s: 0.5, warmup_limit_s: 5, duration_s: 2.5, turns_count: 4, probe_s: 0, boot_limit_s: 60)
      ended = TP::Prove::Journal::Ended.new(trials:, remarks: verdict.remarks, stopped_because: verdict.stopped_because)
      begun = [PLAN, {"times" => times.to_document}, trials.map(&:to_document)]
      seeds = [begun, [*begun, {"ended" => ended.to_document}]].map { |lines| lines.map { |line| "#{JSON.generate(line)}\n" }.join }
      Reader.new(name: "journal of a proof", seeds:, json: :lines, read: method(:resume))
    end

    # As a run that goes on does with it.
    def resume(path)
      journal = TP::Prove::Journal.new(path, plan: PLAN, resume: true)
      [*journal.ended&.remarks, *journal.ended&.stopped_because].each { |one| TP::Report::Statements.words(one) }
      journal.trials
    end

    FACTS = {"profiler" => "x", "profiler_version" => nil, "pid" => 7, "interval_us" => 1_000, "cpu_ns" => 9_000_000}.freeze

    def profiles
      {"stackprof" => stackprof, "vernier" => vernier, "pf2" => pf2, "rperf" => rperf, "ruby-prof" => ruby_prof, "memory_profiler" => memory_profiler}.map do |name, content|
        profiler = TP::Profile.profiler(name)
        text = JSON.generate(content)
        Reader.new(name: "profile of #{name}", seeds: (name == "rperf") ? [text, Zlib.gzip(text)] : [text], json: :whole, read: lambda do |path|
          mode = content["mode"] || content.dig("meta", "vernierUserMetadata", "mode") || content.dig("puma_tuner", "mode")
          costs = TP::Profile::Reading.new(profiler:, mode:, target: "x").call([path], duration_ns: 1, work_count: 3, gems: {})
          TP::Report.render(costs, format: :text)
        end)
      end + [perf_script, perf_file]
    end

    def version(name) = TP::Profile.profiler(name)::PINNED_VERSION

    def stackprof
      {"version" => 1.2, "mode" => "cpu", "interval" => 1_000, "samples" => 3, "gc_samples" => 0, "missed_samples" => 0, "metadata" => {**FACTS, "profiler_version" => version("stackprof"), "mode" => "cpu"},
       "frames" => {"11" => {"name" => "App#call", "file" => "/app/a.rb", "line" => 3}, "12" => {"name" => "Store#find", "file" => "", "line" => nil}},
       "raw" => [2, 11, 12, 2, 1, 11, 1], "raw_sample_timestamps" => [1_000, 2_000, 3_000], "raw_timestamp_deltas" => [0, 1, 1]}
    end

    def vernier
      thread = {"name" => "main", "pid" => 7, "tid" => 8, "stringArray" => ["App#call", "/app/a.rb", "gem:rack-3.0:lib/rack.rb", "sleep"],
                "funcTable" => {"name" => [0, 3], "fileName" => [1, 2], "lineNumber" => [3, nil]}, "frameTable" => {"func" => [0, 1]},
                "stackTable" => {"frame" => [0, 1], "prefix" => [nil, 0], "category" => [0, 1]},
                "samples" => {"stack" => [0, 1, 1], "weight" => [1, 2, 1], "time" => [0.5, 1.5, 3.0]}}
      {"meta" => {"product" => "Ruby/Vernier", "preprocessedProfileVersion" => 48, "categories" => [{"name" => "Default"}, {"name" => "Stalled"}],
                  "vernierUserMetadata" => {**FACTS, "profiler_version" => version("vernier"), "mode" => "wall", "gem_folders" => ["/gems"], "working_directory" => "/app"}}, "threads" => [thread]}
    end

    def pf2
      {"collected_sample_count" => 2, "dropped_sample_count" => 0, "start_timestamp_ns" => 5, "puma_tuner" => {**FACTS, "profiler_version" => version("pf2"), "mode" => "cpu"},
       "functions" => [{"name" => "App#call", "filename" => "/app/a.rb", "start_lineno" => 3}], "locations" => [{"function_index" => 0}],
       "samples" => [{"stack" => [0, 0], "native_stack" => [], "elapsed_ns" => 3}, {"stack" => [], "native_stack" => [0], "elapsed_ns" => 9}]}
    end

    def rperf
      {"rperf_version" => version("rperf"), "mode" => "cpu", "frequency" => 1_000, "sampling_count" => 3, "dropped_samples" => 0, "pid" => 7, "label_sets" => [{}, {"%GVL" => "wait"}],
       "aggregated_samples" => [[[["/app/a.rb", "App#call"], ["<cfunc>", "sleep"]], 5_000_000, 1, 0], [[["/app/a.rb", "App#call"]], 1_000, 1, 1]]}
    end

    def ruby_prof
      {"kind" => "ruby-prof", "format" => 1, **FACTS, "profiler_version" => version("ruby-prof"), "mode" => "wall", "methods" => [["App#call", "/app/a.rb", 3], ["sleep", nil, nil]],
       "threads" => [{"thread" => 8, "calls" => [[nil, 0, 1, 5, 20], [0, 1, 3, 15, 15]]}]}
    end

    def memory_profiler
      {"kind" => "memory_profiler", "format" => 2, **FACTS, "profiler_version" => version("memory_profiler"), "mode" => "objects",
       "allocations" => [["String", "/app/a.rb:3", 10, 400, 1, 40], ["Hash", "(no name):0", 2, 80, 0, 0]]}
    end

    # perf itself is somebody else's; what it prints is read here.
    class Printed
      def initialize(path) = @path = path

      def output_of(_, *words) = [words.include?("--header-only") ? "# perf version : 6.1\n# sample_freq } = 99\n" : File.read(@path), true]
    end

    PERF_SCRIPT = "  7/8  12.000000001:  10101010 \n\tffff vm_exec_core (/usr/lib/libruby.so)\n\tffff [JIT] App#call@/app/a.rb:3 (/tmp/perf-7.map)\n\n" \
      "  7/8  12.500000000:  99 \n\t0 [unknown] ([unknown])\n PERF_RECORD_LOST lost 5\n"

    def perf_script
      Reader.new(name: "what perf prints", seeds: [PERF_SCRIPT], read: lambda { |path|
        reader = TP::Profile::Readers::Perf.new(path, Printed.new(path))
        def reader.ensure_kind = nil
        samples = reader.samples
        TP::Profile::Aggregate.new([samples]).tree
      })
    end

    def perf_file
      head = "PERFILE2#{[104, 136, 0, 0, 104, 8, 0, 0, 3, 0, 0, 0].pack("Q<*")}".b.ljust(104, "\0")
      Reader.new(name: "perf's file", seeds: [head + "x" * 8 + [112, 8, 120, 8].pack("Q<*") + "y" * 16], read: lambda { |path|
        TP::Profile::Readers::Perf.new(path, nil).send(:ensure_kind)
      })
    end

    # Files that processes of one server, and we beside them, exchange.
    def of_servers
      [ledger, lanes, written_ledger, *small]
    end

    # The parts of a ledger that are not empty: [where, how much].
    def ledger_parts
      layout = TP::Probe::Ledger::LAYOUT
      buckets = layout[:buckets_count] * 8
      entries = 16
      [[0, layout[:entries_offset] + entries * layout[:entry_bytes]], *(4..9).map { |entry| [layout[:histograms_offset] + entry * layout[:histograms_count] * buckets, buckets] },
        [layout[:traces_offset], 4 * layout[:trace_bytes]], [layout[:locks_offset], layout[:first_lock_offset] + 2 * layout[:lock_bytes]],
        [layout[:lanes_offset], layout[:first_lane_offset] + 3 * layout[:lane_bytes]], [layout[:lanes_offset] + layout[:lane_records_offset], 20 * layout[:lane_record_bytes]]]
    end

    # One that a process has written, with requests, locks and lanes; its parts, one after the other.
    def packed_ledger
      @packed_ledger ||= Dir.mktmpdir do |folder|
        path = File.join(folder, "it.ledger")
        Process.wait(fork { write_ledger(path) })
        File.open(path, "rb") { |file| ledger_parts.map { |offset, length| file.pread(length, offset) }.join }
      end
    end

    def write_ledger(path)
      clock = TP::Probe::GvlClock
      clock.start
      clock.open_ledger(path, JSON.generate("worker_index" => 0, "threads_count" => 5, "why_not" => nil)) and exit!(1)
      clock.watch_locks
      lock = Mutex.new
      3.times do |number|
        TP::Probe::LaneReader.order(path, 50_000_000) if number == 1
        clock.job_begin
        Thread.new { lock.synchronize { sleep 0.001 } }.join
        lock.synchronize { sleep 0.001 }
        clock.request_end(clock.entry(TP::Probe::Ledger::KIND_NUMBERS[:request], "GET /#{number % 2}"), nil, nil)
      end
      exit!(0)
    end

    # What changes is mostly in the parts; where an input is shorter, so is the file.
    def unpacked(path)
      bytes = File.binread(path)
      whole = "#{path}.ledger"
      File.open(whole, "wb") do |file|
        ledger_parts.each do |offset, length|
          part = bytes.slice!(0, length)
          file.pwrite(part, offset) unless part.empty?
        end
        file.truncate(TP::Probe::Ledger::LAYOUT[:lanes_offset] + 3_000_000) if bytes.bytesize.even?
      end
      whole
    end

    def ledger
      Reader.new(name: "ledger", seeds: [packed_ledger], read: lambda { |path|
        whole = unpacked(path)
        ledger = TP::Probe::Ledger.read(whole)
        TP::Probe::Account.new({}, {whole => ledger}).endpoints if ledger
        TP::Probe::Ledger.begin_window(whole)
        exported(TP::Export::LedgerReader.open(whole))
        shown(whole)
      })
    end

    def exported(reader)
      return unless reader.look
      numbers, histograms = "\0".b * TP::Export::LedgerReader::NUMBERS_BYTES, Array.new(3) { "\0".b * TP::Export::LedgerReader::HISTOGRAM_BYTES }
      reader.each_row { |_, _, index, _| reader.numbers(index) && reader.add(index, numbers, histograms) }
      [reader.facts, reader.pid, reader.began_at_ns]
    ensure
      reader.close
    end

    # As `top` reads it, of servers that may be somebody else's.
    def shown(path)
      reader = TP::Top::LedgerReader.new(File.open(path, "rb"))
      ledger = reader.ledger(traced: false, locks: false) or return
      TP::Top::Totals.new.call({path => ledger}).each_value { |entry| entry.histograms.first&.quantile_ns(0.99) }
    ensure
      reader&.close
    end

    def lanes
      Reader.new(name: "lanes of a ledger", seeds: [packed_ledger], read: lambda { |path|
        TP::Probe::LaneReader.read_all([unpacked(path)]).each(&:to_document)
      })
    end

    def written_ledger
      Dir.mktmpdir do |folder|
        File.binwrite(path = File.join(folder, "it"), packed_ledger)
        text = JSON.generate(TP::Probe::Written.document([TP::Probe::Ledger.read(unpacked(path))]))
        Reader.new(name: "ledger of processes that have ended", seeds: [text], json: :whole, read: lambda { |path|
          FileUtils.mv(path, json = "#{path}.json")
          exported(TP::Export::LedgerReader.open(json))
          ledger = TP::Probe::Ledger.read(json)
          TP::Probe::Account.new({}, {json => ledger}).endpoints
        })
      end
    end

    # Of these the callers rescue what JSON.parse raises, see there.
    def small
      recommendation = TP::Probe::Recommendation.new(topology: "2x3", today: "1x5", metric: "throughput", ratio: [1.2, 1.1, 1.3], requests_count: 9, why_not: nil, detail: nil, made_at_s: Time.now.to_f)
      order = {"format" => 1, "controller" => "1-2-3", "expires_at_ns" => 5, "threads" => {"7" => 3}}
      [
        Reader.new(name: "recommendation", seeds: [JSON.generate(recommendation.to_document)], json: :whole, read: in_its_place("recommendation") { |folder|
          one = TP::Probe::Recommendation.read(folder) and [one.settings, one.age_s]
        }),
        Reader.new(name: "order to resize", seeds: [JSON.generate(order)], json: :whole, refuses: JSON_REFUSALS, read: in_its_place(TP::Probe::Resize::ORDER) { |folder|
          TP::Probe::Resize::Order.read(folder)&.why_not(0)
        }),
        Reader.new(name: "state of a pool", seeds: ['{"format":1,"threads":[1,8],"pool":{"max_count":5}}'], json: :whole, read: in_its_place("1.pool") { |folder|
          TP::Probe::Resize.threads_counts([File.join(folder, "1.ledger")])
        }),
        Reader.new(name: "names that are exported", seeds: ["[\"request\",\"GET /a\"]\n[\"job\",\"Nightly\"]\n"], json: :lines, read: in_its_place("exported.names") { |folder|
          told = TP::Export::AdmittedNames.new(folder, 2).admit(:request, "GET /b")
          raise "a name became another" unless ["GET /b", TP::Probe::Endpoint::OTHER].include?(told)
        }),
        gauges,
        Reader.new(name: "X-Request-Start", seeds: ["t=1795000000.123", "1795000000123", "1795000000123456"], read: ->(path) { TP::Probe::RequestStart.instant_ns(File.binread(path)) }),
        Reader.new(name: "path of a request", seeds: ["/articles/42/comments/9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d", "/a%20b/%E3%81%82?q=1"], read: ->(path) { TP::Probe::Endpoint::Path.name(File.binread(path)) }),
        Reader.new(name: "heads of HTTP requests", seeds: HEADS, read: method(:read_head))
      ]
    end

    # Those of this process, at the time at which they were written.
    def gauges
      own = TP::Export::ProcessGauges.new("/", server: nil, worker_index: 0).read
      Reader.new(name: "gauges of a process", seeds: [JSON.generate(own)], json: :whole, read: in_its_place("#{own.fetch(:pid)}.gauges") { |folder|
        processes = TP::Export::ProcessGauges.read_all(folder, now_s: own.fetch(:at_s)).map do |one|
          TP::Export::Reading::ServerProcess.new(pid: one.fetch("pid"), worker: one["worker_index"].to_s, began_at_ns: 0, cpu_ns: 0, memory: {}, gauges: one, threads_sums: [])
        end
        TP::Export::Text.of(TP::Export::ProcessFamilies.new(processes).call)
      })
    end

    GROUPS = ["0::/a/b\n\n150000 100000\n", "12:memory:/a\n4:cpu,cpuacct:/\n\n9\ninactive_file 3\nnr_throttled 4\n"].freeze
    OF_GROUPS = %w[cpu.max cpu.stat memory.max memory.current memory.stat cpu/cpu.cfs_quota_us cpu/cpu.cfs_period_us cpu/cpu.stat memory/memory.limit_in_bytes
      memory/memory.usage_in_bytes memory/memory.stat].freeze

    # The groups of a process, and after an empty line what is in all their files. No path has a zero in it.
    def control_group
      Reader.new(name: "control group", seeds: GROUPS, read: lambda { |path|
        groups, content = File.binread(path).delete("\0").split("\n\n", 2)
        File.binwrite(path, groups.to_s)
        OF_GROUPS.each do |name|
          FileUtils.mkdir_p(File.dirname(place = File.join("#{path}.system", name)))
          File.binwrite(place, content.to_s)
        end
        group = TP::Probe::ControlGroup.new(TP::Probe::Processes.read(path), system: "#{path}.system")
        quietly { [group.cpu_quota_cores, group.memory_limit_bytes, group.throttled_count, group.working_set_bytes] }
      })
    end

    # @yieldparam folder [String] in which the input has this name
    def in_its_place(name)
      lambda do |path|
        place = File.join(File.dirname(path), name)
        FileUtils.mv(path, place) unless place == path
        yield File.dirname(path)
      end
    end

    HEADS = ["*/*", "*/*\r\nAccept-Encoding: gzip;q=0.8, identity"].map { |accept| "GET /metrics HTTP/1.1\r\nHost: a\r\nAccept: #{accept}\r\n\r\n" }.freeze

    # So long that it is packed for who takes that.
    EXPORTED = Struct.new(:text).new("puma_tuner_workers 2\n" * 300)

    def read_head(path)
      theirs, ours = UNIXSocket.pair
      theirs.write(File.binread(path, 60_000))
      theirs.close_write
      TP::Export::HttpServer.new(nil, EXPORTED).send(:answer, ours)
      raise "no response" unless theirs.read_nonblock(9, exception: false) == "HTTP/1.1 "
    ensure
      [theirs, ours].each(&:close)
    end

    VECTOR = {"status" => "success", "data" => {"resultType" => "matrix", "result" => [{"metric" => {"le" => "+Inf", "service" => "a"}, "values" => [[1_795_000_000, "1.5"], [1_795_000_060.25, "NaN"]]}]}}.freeze
    SCALAR = {"status" => "success", "isPartial" => true, "warnings" => ["x"], "data" => {"result" => [{"metric" => {"le" => "+Inf"}, "value" => [1_795_000_000, "7"]}]}}.freeze
    NAMES = {"status" => "success", "data" => %w[a b]}.freeze
    REFUSED = {"status" => "error", "errorType" => "timeout", "error" => "query timed out"}.freeze

    # Over a socket, so that the head is read, too.
    def prometheus
      seeds = [VECTOR, SCALAR, NAMES].map do |content|
        body = JSON.generate(content)
        "HTTP/1.1 200 OK\r\nDate: Sun, 22 Nov 2026 10:00:00 GMT\r\nContent-Type: application/json\r\nContent-Length: #{body.bytesize}\r\n\r\n#{body}"
      end
      bodies = [VECTOR, SCALAR, NAMES, REFUSED].map { |content| JSON.generate(content) }
      Reader.new(name: "answers of Prometheus", seeds: [*seeds, *bodies], json: :lines, read: ->(path) { quietly { ask(path) } })
    end

    # @return [String] of a server that puts what it is told to
    def listening = "http://127.0.0.1:#{(@listener ||= TCPServer.new("127.0.0.1", 0)).addr[1]}"

    # In the place of this stands the path of a profile.
    PLACE = "/A/PROFILE"

    PROFILED = [
      "HTTP/1.1 200 OK\r\nX-Puma-Tuner-Profile: #{PLACE}\r\nContent-Length: 2\r\n\r\nok",
      "HTTP/1.1 204 No Content\r\nx-puma-tuner-profile: #{PLACE}\r\nConnection: close\r\n\r\n",
      "HTTP/1.1 200 OK\r\nX-Puma-Tuner-Profile: #{PLACE}\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n0\r\nTrailer: x\r\n\r\n",
      "HTTP/1.1 200 OK\r\nX-Puma-Tuner-Profile: #{PLACE}\r\nContent-Encoding: gzip\r\n\r\n".b + Zlib.gzip("ok")
    ].freeze

    def profiled_request
      profiler = TP::Profile.profiler("stackprof")
      Reader.new(name: "answers to a profiled request", seeds: PROFILED, read: lambda { |path|
        File.write(profile = "#{path}.json", JSON.generate(stackprof))
        settings = TP::Probe::Profiling::Settings.new(profiler: "stackprof", mode: "cpu", interval_us: nil, folder: "/", scope: "request", token: "t" * 16, paths: [])
        run = TP::Profile::RequestRun.new(profiler:, settings:, times: 1, limit_s: 0.4)
        url = "#{listening}/x"
        answered(File.binread(path).gsub(PLACE.b, profile.b)) { quietly { run.of_url(url) } }
      })
    end

    # @yield asks once
    def answered(answer)
      serving = Thread.new { answer_once(answer) }
      yield
    ensure
      serving.join(1) || serving.kill
    end

    def ask(path)
      answer = File.binread(path)
      answer = "HTTP/1.1 200 OK\r\nContent-Length: #{answer.bytesize}\r\n\r\n#{answer}" unless answer.start_with?("HTTP")
      client = TP::Fleet::Prometheus.new(listening, timeout_s: 2)
      window = TP::Fleet::Window.of(1_795_000_000, 3_600)
      refused = %i[range instant label_values].filter_map do |question|
        put(client, question, window, answer)
        nil
      rescue TP::Error => error
        error
      end
      raise refused.first if refused.size == 3
    end

    # What is an answer to one question is none to the others.
    def put(client, question, window, answer)
      answered(answer) do
        case question
        when :range then TP::Fleet::MergedHistogram.of(client.range("up", window).to_h { |series| [series.label("le"), series.values.values.first] })
        when :instant then client.instant("up", 1_795_000_000).each { |series| series.values.values.sum(0.0) }
        else client.label_values("le", "up", window).map(&:size)
        end
      end
    end

    def answer_once(answer)
      socket = @listener.accept
      socket.readpartial(65_536)
      socket.write(answer)
    rescue SystemCallError, IOError
      nil
    ensure
      socket&.close
    end

    ANSWERS = [
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\nA\r\n, world!!!\r\n0\r\nTrailer: x\r\n\r\n",
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 302 Found\r\nLocation: /login?back=y\r\nContent-Length: 0\r\n\r\n", "HTTP/1.0 200 OK\r\n\r\nuntil the end",
      "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n", "HTTP/1.1 200 OK\r\nSet-Cookie: t=1; path=/; expires=Thu, 01-Jan-1970 00:00:00 GMT\r\nset-cookie: c=;;=; max-age=9\r\n" \
      "X-T: d\r\nContent-Length: 66\r\n\r\n<meta name=t content=\"a&amp;&#x2b;b\"><input value='v' name=\"t\">   ",
      "HTTP/1.1 200 OK\r\nContent-Length: 56\r\n\r\n{\"a\": [{\"b\": 1}, {\"t\": \"\\u00e9\\ud83d\\ude00\\n\"}]}".ljust(95), "\1HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"
    ].freeze

    # In a process of its own, with the sanitizers: test/native/responses.c.
    def responses
      Reader.new(name: "http responses", seeds: ANSWERS, prepare: NativeReader.method(:program),
        read: ->(path) { (@native ||= NativeReader.new).call(File.binread(path)) })
    end
  end

  # The load generator's reader of responses, compiled with what finds faults of memory.
  class NativeReader
    FLAGS = %w[-D_GNU_SOURCE -std=gnu11 -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer].freeze
    SOURCES = %w[test/native/responses.c ext/puma_tuner_load/response.c ext/puma_tuner_load/pick.c ext/puma_tuner_load/jar.c ext/puma_tuner_load/client.c ext/puma_tuner_load/doubts.c].freeze

    class << self
      # @return [String] the program, compiled if that was not done yet for these sources
      def program
        sources = SOURCES.map { |path| File.join(Readers::PROJECT, path) }
        headers = Dir[File.join(Readers::PROJECT, "ext/{puma_tuner_load,shared}/*.h")].sort
        path = File.join(Readers::PROJECT, "tmp/fuzz/responses-#{Zlib.crc32([FLAGS, *(sources + headers).map { |file| File.read(file) }].join).to_s(16)}")
        compile(sources, path) unless File.exist?(path)
        path
      end

      private

      def compile(sources, path)
        FileUtils.mkdir_p(File.dirname(path))
        command = [*RbConfig::CONFIG["CC"].split, *FLAGS, "-I#{Readers::PROJECT}/ext/puma_tuner_load", "-o", "#{path}.#{Process.pid}", *sources]
        out = IO.popen([*command, err: %i[child out]], &:read)
        raise "#{command.join(" ")}:\n#{out}" unless $?.success?
        File.rename("#{path}.#{Process.pid}", path)
      end
    end

    # @return [Integer, nil] of the process, once there is one
    attr_reader :pid

    # @param bytes [String] a response
    # @return [nil]
    # @raise [Crashed] when the process has gone over it, with what it said
    # @raise [PumaTuner::InvalidMeasurement] when it is no HTTP
    def call(bytes)
      start unless @input
      @input.write([bytes.bytesize].pack("L"), bytes)
      letter = @output.read(1) or raise Crashed, words
      raise PumaTuner::InvalidMeasurement, "the response is not HTTP" if letter == "n"
      nil
    rescue Errno::EPIPE
      raise Crashed, words
    end

    private

    # It needs more addresses than a reader in Ruby may have, and limits itself.
    def start
      @said = "#{Dir.tmpdir}/puma_tuner-fuzz-#{Process.pid}"
      theirs, input = IO.pipe(binmode: true)
      @output, ours = IO.pipe(binmode: true)
      environment = {"ASAN_OPTIONS" => "hard_rss_limit_mb=512:detect_leaks=0:allocator_may_return_null=1"}
      @pid = Process.spawn(environment, *unlimited, self.class.program, in: theirs, out: ours, err: @said, rlimit_as: Process.getrlimit(:AS).last)
      [theirs, ours].each(&:close)
      input.sync = true
      @input = input
    end

    def words
      Process.wait(@pid)
      lines = File.read(@said).scrub.lines
      said = [/runtime error/, /^responses\.c/, /SUMMARY/].filter_map { |pattern| lines.grep(pattern).first }.first.to_s.strip
      [@input, @output].each(&:close)
      @input = nil
      said.empty? ? $?.to_s.sub(/\Apid \d+ /, "") : said.gsub(%r{/\S*/}, "")
    ensure
      FileUtils.rm_f(@said)
    end

    # A kernel that scatters addresses widely leaves the sanitizers of older compilers no room.
    def unlimited = @unlimited ||= system("setarch", "--addr-no-randomize", "true", err: File::NULL) ? %w[setarch --addr-no-randomize] : []
  end
end
