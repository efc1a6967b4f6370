# frozen_string_literal: true

module PumaTuner
  module CLI
    # All names of options: a name means one thing in every command that has it.
    # A command says what holds without it, as that differs.
    module Dictionary
      MIB = 1..10_000_000

      # Heading in help => [name, type, what help calls the value, meaning, more].
      TABLE = {
        "Common options" => [
          [:path, :list, "PATH,…", "paths to request", {default: "/"}],
          [:requests, :file, "FILE", "file of requests and their weights " \
            "(docs/reference/requests.md), instead of --path"],
          [:rate, :count, "RATE", "requests per second, sent whether or not responses have come (open loop)",
            {limits: 1..200_000}],
          [:connections, :count, "N", "clients that each send their next request when the response is there (closed " \
            "loop); in an open loop, the most that may be open", {limits: 1..10_000}],
          [:duration, :seconds, "SECONDS", "how long is measured", {limits: ..3_600}],
          [:load, :switch, nil, "send requests to the app; without, its own traffic is measured"],
          [:threads, :counts, "RANGE", "threads per worker to predict", {default: "1..8", limits: 1..256}],
          [:workers, :counts, "RANGE", "workers to predict; 1 is a single process",
            {usual: "1 to as many as the server has cores", limits: 1..256}],
          [:topologies, :topologies, "WxT,…", "workers x threads to compare, such as 1x5,2x3"],
          [:variant, :texts, "NAME:KEY=VALUE,…",
            "a variant, the baseline first (docs/reference/prove.md lists the keys)"],
          [:rounds, :count, "N", "how often each variant is measured; an interval needs 6", {limits: 1..200}],
          [:time, :time, "TIME", "how long all of it may take, such as 5m: rounds, then trials, are cut to fit, " \
            "and what that costs is said"],
          [:from, :file, "FILE", "the log, packed by gzip or not: of nginx, Apache, Rails, or Amazon's load balancer"],
          [:a, :text, "SELECTOR", "the baseline's labels, as in PromQL: '{yjit=\"off\"}'"],
          [:b, :text, "SELECTOR", "the other's", {usual: "the same, at another time"}],
          [:window, :text, "TIME", "how long: a number and m, h, d or w"],
          [:with, :text, "PROFILER", "profiler; --list names them", {usual: "stackprof, and vernier with --outliers"}],
          [:output, :file, "FILE", "file for what the command makes; - prints it instead of a text"],
          [:html, :file, "FILE", "file for an HTML report"],
          [:markdown, :file, "FILE", "file for a summary, as for a pull request"],
          [:verbose, :flag, nil, "print all that there is to tell; without, what fits a screen"]
        ],
        "The app" => [
          [:directory, :folder, "FOLDER", "folder of the app, or in which a command after `--` runs",
            {usual: "this one"}],
          [:boot_limit, :seconds, "SECONDS", "how long the app may take to come up", {default: "60", limits: ..3_600}],
          [:topology, :topology, "WxT", "workers x threads to run with, such as 2x3", {usual: "the app's own"}],
          [:today, :topology, "WxT", "topology to start from, such as 1x5", {usual: "what the app's own settings say"}],
          [:block, :file, "FILE", "Ruby file with blocks, instead of an app (docs/reference/prove.md)"],
          [:ruby, :text, "RUBY", "a Ruby, by version or path", {usual: "the one that runs puma_tuner"}]
        ],
        "Requests" => [
          [:data, :file, "FILE", "CSV file whose columns stand for the {{names}} in --requests"],
          [:arrivals, :text, "KIND", "of an open loop: poisson or even", {default: "poisson"}],
          [:think, :seconds, "SECONDS", "how long each client waits before its next request",
            {usual: "not at all", limits: 0..3_600}],
          [:reuse, :text, "MIN:MAX", "requests over one connection, " \
            "such as 1:100: each connection draws its own number", {usual: "no end"}],
          [:core, :count, "N", "number of the core that the load generator is bound to", {limits: 0..1_023}],
          [:anywhere, :flag, nil, "send to another machine, too: only to what is yours"],
          [:self_test, :flag, nil, "needs no URL: does the load generator tell the truth of " \
            "a server that stands still?"],
          [:raw, :file, "FILE", "file for a line of CSV per response"]
        ],
        "Measurement" => [
          [:warmup, :seconds, "SECONDS", "load before what is measured, at least; " \
            "that begins when the app is steady, or after ten times as long", {limits: ..3_600}],
          [:locks, :switch, nil, "watch locks and pools"],
          [:settings, :text, "WxT,…", "topologies to record briefly besides today's, such as 1x1,2x5, or none",
            {usual: "one thread, and another number of workers"}],
          [:single_recording, :flag, nil, "record today's settings alone, as --settings none does"],
          [:calibrate, :switch, nil, "measure the machine beforehand, some 40 seconds, " \
            "when it has not been: predictions rest on it"],
          [:check, :topologies, "WxT,…", "topologies to measure too, such as 1x1,2x5, " \
            "to see how good the predictions are"],
          [:force, :flag, nil, "measure again, also when the figures are there already"]
        ],
        "Prediction" => [
          [:what_if, :texts, "CHANGE", "a change that is assumed, " \
            "such as \"cpu(/articles)*0.7\" or \"io(db)-20ms\" (docs/reference/what_if.md)"],
          [:station, :texts, "KIND=N", "waits of that kind (db, redis, http, file, io for the rest of IO, lock, " \
            "sleep, pool) queue for N servers, such as db=20"],
          [:min_threads, :counts, "RANGE", "Puma's minimum of threads",
            {usual: "as many as --threads", limits: 0..256}],
          [:io_threads, :counts, "RANGE", "Puma's max_io_threads to predict, such as 0,2", {limits: 0..256}],
          [:timeslice, :counts, "RANGE", "milliseconds of a thread's time slice to predict (RUBY_THREAD_TIMESLICE), " \
            "such as 100,10", {limits: 1..60_000}],
          [:affinity, :switch, nil, "predict workers that are each bound to a core (`prove --variant " \
            "bound:affinity=on` measures it)"],
          [:queue_requests, :switch, nil, "predict Puma with its reactor; " \
            "without (queue_requests false), every response closes its connection", {default: true}],
          [:capacity, :flag, nil, "find the highest rate at which all --max-p hold; " \
            "the most connections, with --connections"],
          [:percentiles, :list, "P,…", "percentiles of the latency to tell, such as 50,95,99.9"],
          [:seeds, :count, "N", "simulations of each scenario; more make intervals narrower", {limits: 2..200}],
          [:simulated_requests, :count, "N", "requests counted in each simulation", {limits: 100..1_000_000}]
        ],
        "Constraints" => [
          [:max_memory, :count, "MIB", "memory that all processes may use together (PSS)", {limits: MIB}],
          [:max_p, :milliseconds, "MS", "milliseconds a percentile may take: --max-p99 200, --max-p50 80, " \
            "--max-p99.9 500, any other; several must all hold"],
          [:max_p99, :milliseconds, "MS", "milliseconds the 99th percentile may take"],
          [:for_workers, :count, "N", "workers for which the memory is estimated",
            {usual: "as many as run", limits: 1..1_000}]
        ],
        "Proof" => [
          [:factor, :texts, "KEY=VALUE,…", "values of one factor: every combination is a variant"],
          [:variants, :file, "FILE", "Ruby file that declares variants"],
          [:primary, :text, "METRIC", "metric that decides"],
          [:expect, :texts, "EXPECTATION", "what must be shown, " \
            "such as \"throughput >= 1.2\" or \"p99 not worse\"; exit code 1 when it is not"],
          [:looks, :counts, "N,…", "numbers of rounds after which it may be decided, such as 10,20,40, " \
            "instead of --rounds", {limits: 1..256}],
          [:equivalent, :percent, "PERCENT", "a difference that matters to nobody", {default: "2"}],
          [:trial_duration, :seconds, "SECONDS", "load in each trial of the proof", {limits: ..3_600}],
          [:turns, :count, "N", "how often the variants take turns within a round; 1: one server up at a time",
            {default: "8", limits: 1..100}],
          [:noise_rounds, :count, "N", "rounds of the baseline against itself beforehand, 0: none",
            {default: "4", limits: 0..100}],
          [:warmup_window, :seconds, "SECONDS", "each window of a trial's warm-up; three at least",
            {default: "0.7", limits: ..3_600}],
          [:warmup_limit, :seconds, "SECONDS", "after which a trial begins though it is not steady", {limits: ..3_600}],
          [:probe_duration, :seconds, "SECONDS", "load with the probe after each trial, for the cause, 0: none",
            {default: "1.2", limits: 0..3_600}],
          [:allow, :texts, "KEY", "what may differ though it is not declared: " \
            "the beginning of a fingerprint's key, such as \"gem rack\""],
          [:bodies_may_differ, :flag, nil, "compare though the responses differ in length"],
          [:busy_machine, :flag, nil, "count rounds though others on the machine have disturbed them"],
          [:resume, :flag, nil, "go on where an interrupted run with the same options ended"],
          [:false_alarms, :count, "N", "run so many proofs of the baseline against itself, short, " \
            "and tell how many called a difference", {limits: 2..1_000}]
        ],
        "Trade-off" => [
          [:memory, :count_list, "MIB,…", "limits at which YJIT stops compiling, besides its own", {limits: 1..2_048}],
          [:thresholds, :count_list, "N,…", "calls before YJIT compiles a method, besides its own",
            {limits: 1..100_000}]
        ],
        "Profile" => [
          [:mode, :text, "MODE", "what the profiler looks at; --list names them", {usual: "the profiler's usual"}],
          [:interval, :count, "MICROSECONDS", "between samples",
            {usual: "the profiler's usual", limits: 10..1_000_000}],
          [:outliers, :flag, nil, "keep only outliers: the slowest requests, or with far more GVL wait or GC"],
          [:request, :text, "PATH", "single requests of it, one at a time, " \
            "from Puma's taking to the end of the response"],
          [:times, :count, "N", "requests with --request or --url",
            {usual: "20; 1 of a profiler that follows every call", limits: 1..10_000}],
          [:token, :text, "TOKEN", "the one that PumaTuner::ProfilerMiddleware knows, for --url"],
          [:name, :text, "NAME", "of the block"],
          [:iterations, :count, "N", "of the block",
            {usual: "as many as fit into --duration; 1 of a profiler that follows every call", limits: 1..10_000_000}],
          [:read, :file, "FILE,…", "a profiler's own file, or several, instead of taking a profile"],
          [:whole, :flag, nil, "of --read: keep also what stands above a request, and threads that wait"],
          [:list, :flag, nil, "name the profilers, their modes, and whether they are installed"],
          [:install, :text, "PROFILER", "install a profiler (or: " \
            "all) outside of any bundle, where this command finds it"]
        ],
        "Servers at work" => [
          [:url, :text, "URL", "address of a server that runs already"],
          [:step, :text, "TIME", "length of the spans that a window is cut into",
            {usual: "after its length, an hour for days"}],
          [:a_end, :text, "INSTANT", "when a's window ends: 2026-03-02T10:00:00Z", {usual: "now"}],
          [:b_end, :text, "INSTANT", "when b's does", {usual: "now"}],
          [:source, :text, "SOURCE", "auto, rules (ops/prometheus/rules.yml) or raw (the exporter's own metrics)",
            {default: "auto"}],
          [:by, :text, "LABEL", "the label that names services", {usual: "service, or job"}],
          [:services, :text, "SELECTOR", "labels of the services told of", {usual: "all"}],
          [:timeout, :seconds, "SECONDS", "for each query", {default: "60", limits: ..3_600}],
          [:header, :text, "HEADER", "sent along: \"X-Scope-OrgID: team\""]
        ],
        "Log" => [
          [:log_format, :text, "FORMAT", "alb, combined or rails", {usual: "as its first lines look"}],
          [:methods, :list, "METHOD,…", "that count; what changes something is asked for again only where you say so",
            {default: "GET"}],
          [:assets, :flag, nil, "count files of pictures, styles and scripts, too"],
          [:top, :count, "N", "kinds of requests, the most frequent ones", {default: "200", limits: 1..1_000}],
          [:keep_values, :flag, nil, "write the values of paths and queries into a data file; " \
            "they may be somebody's names, searches and tokens"],
          [:instants, :file, "FILE", "file for the instants of the first #{Loads::REPLAYED_MAX} requests, " \
            "for predict --arrivals replay:FILE"]
        ],
        "Other options" => [
          [:format, :text, "FORMAT", "text, html, markdown or json", {default: "text"}],
          [:seed, :count, "N", "random seed", {default: "1", limits: 0..2**31}]
        ]
      }.freeze

      ALL = TABLE.flat_map { |group, rows|
        rows.map { |name, type, takes, about, more| Option.new(name:, type:, takes:, group:, about:, **more.to_h) }
      }.to_h { |option| [option.name, option] }.freeze

      # @param name [Symbol]
      # @return [Option]
      def self.fetch(name) = ALL.fetch(name)
    end
  end
end
