# frozen_string_literal: true

module PumaTuner
  module CLI
    # The names of all options: a name means one thing in every command that has it. A command says what holds without
    # it, as that differs.
    module Dictionary
      # Heading in help => [name, type, what help calls the value, meaning, more].
      TABLE = {
        "Common options" => [
          [:path, :list, "PATH,…", "paths to request", {default: "/"}],
          [:requests, :file, "FILE", "file of requests and their weights " \
            "(docs/reference/requests.md), instead of --path"],
          [:rate, :count, "RATE", "requests per second, sent whether or not the server keeps up (open loop)",
            {limits: 1..200_000}],
          [:connections, :count, "N", "clients that each wait for a response before their next request (closed " \
            "loop); " \
            "in an open loop, the most connections that may be open", {limits: 1..10_000}],
          [:duration, :seconds, "SECONDS", "how long to measure", {limits: ..3_600}],
          [:load, :switch, nil, "send requests to the app; otherwise its own traffic is measured"],
          [:threads, :counts, "RANGE", "threads per worker to predict", {default: "1..8", limits: 1..256}],
          [:workers, :counts, "RANGE", "workers to predict; 1 is a single process",
            {usual: "1 to as many as the server has cores", limits: 1..256}],
          [:topologies, :topologies, "WxT,…", "workers x threads to compare, such as 1x5,2x3"],
          [:variant, :texts, "NAME:KEY=VALUE,…",
            "a variant, the baseline first (docs/reference/prove.md lists the keys)"],
          [:rounds, :count, "N", "how often each variant is measured; an interval needs 6", {limits: 1..200}],
          [:time, :time, "TIME", "how long everything may take, such as 5m: rounds, then trials, are cut to fit, " \
            "and the report says what that costs"],
          [:from, :file, "FILE",
            "access log of nginx, Apache, Caddy, Rails, lograge, Kamal, Heroku's router or Amazon's balancer, " \
            "gzipped or not"],
          [:a, :text, "SELECTOR", "the baseline's labels, as in PromQL: '{yjit=\"off\"}'"],
          [:b, :text, "SELECTOR", "the labels to compare with it", {usual: "the same, at another time"}],
          [:window, :text, "TIME", "how long, such as 90m, 12h, 7d or 1w"],
          [:with, :text, "PROFILER", "profiler; --list names them", {usual: "stackprof, and vernier with --outliers"}],
          [:output, :file, "FILE", "file for the result as JSON; - prints it instead of the report"],
          [:html, :file, "FILE", "file for an HTML report"],
          [:markdown, :file, "FILE", "file for a Markdown summary, as for a pull request"],
          [:verbose, :flag, nil, "print the whole report instead of one screen"]
        ],
        "The app" => [
          [:directory, :folder, "FOLDER", "folder of the app, or in which the command after `--` runs",
            {usual: "this one"}],
          [:boot_limit, :seconds, "SECONDS", "how long the app may take to come up", {default: "60", limits: ..3_600}],
          [:topology, :topology, "WxT", "workers x threads to run with, such as 2x3", {usual: "the app's own"}],
          [:today, :topology, "WxT", "topology to start from, such as 1x5", {usual: "what the app's own settings say"}],
          [:block, :file, "FILE", "Ruby file with blocks to run instead of an app (docs/reference/prove.md)"],
          [:ruby, :text, "RUBY", "Ruby to run the app with, by version or path", {usual: "the one that runs " \
            "puma_tuner"}]
        ],
        "Requests" => [
          [:data, :file, "FILE", "CSV file whose columns fill in the {{names}} in --requests"],
          [:arrivals, :text, "KIND", "arrivals of an open loop: poisson or even", {default: "poisson"}],
          [:think, :seconds, "SECONDS", "think time: how long each client waits before its next request",
            {usual: "not at all", limits: 0..3_600}],
          [:reuse, :text, "MIN:MAX", "requests over one connection before it is closed, " \
            "such as 1:100: each connection draws its own number", {usual: "no end"}],
          [:core, :count, "N", "core to bind the load generator to", {limits: 0..1_023}],
          [:anywhere, :flag, nil, "allow another machine: only servers that are yours"],
          [:self_test, :flag, nil, "check the load generator against a server that stalls " \
            "(needs no URL)"],
          [:raw, :file, "FILE", "CSV file with a line per response"]
        ],
        "Measurement" => [
          [:warmup, :seconds, "SECONDS", "shortest warm-up; the measurement begins " \
            "when the app is steady, or after ten times as long", {limits: ..3_600}],
          [:locks, :switch, nil, "record waits for locks and connection pools"],
          [:lanes, :flag, nil, "record for two seconds what each thread does when, for `puma_tuner lanes`"],
          [:settings, :settings, "WxT,…", "topologies to record briefly besides today's, such as 1x1,2x5; " \
            "none: today's alone",
            {usual: "one thread, and another number of workers"}],
          [:calibrate, :switch, nil, "calibrate the machine beforehand (some 40 seconds) " \
            "if it never was: predictions need its figures"],
          [:check, :topologies, "WxT,…", "topologies to measure as well, such as 1x1,2x5, " \
            "to check the predictions"],
          [:force, :flag, nil, "measure again although there are figures already"]
        ],
        "Prediction" => [
          [:what_if, :texts, "CHANGE", "a change to assume, " \
            "such as \"cpu(/articles)*0.7\" or \"io(db)-20ms\" (docs/reference/what_if.md)"],
          [:station, :texts, "KIND=N", "let waits of that kind (db, redis, http, file, io for other IO, lock, " \
            "sleep, pool) queue for N servers, such as db=20"],
          [:min_threads, :counts, "RANGE", "Puma's minimum number of threads",
            {usual: "as many as --threads", limits: 0..256}],
          [:io_threads, :counts, "RANGE", "Puma's max_io_threads to predict, such as 0,2",
            {usual: "as recorded", limits: 0..256}],
          [:timeslice, :counts, "RANGE", "milliseconds of a thread's time slice to predict (RUBY_THREAD_TIMESLICE), " \
            "such as 100,10", {limits: 1..60_000}],
          [:affinity, :switch, nil, "predict workers that are each bound to a core (`prove --variant " \
            "bound:affinity=on` measures it)"],
          [:queue_requests, :switch, nil, "predict Puma with its reactor; without " \
            "(queue_requests false), every response closes its connection", {usual: "as recorded"}],
          [:capacity, :flag, nil, "find the highest rate at which each --slo holds; " \
            "the most connections, with --connections"],
          [:percentiles, :list, "P,…", "latency percentiles to report, such as 50,95,99.9"],
          [:seeds, :count, "N", "simulations of each scenario; more give narrower intervals", {limits: 2..200}],
          [:simulated_requests, :count, "N", "requests in each simulation", {limits: 100..1_000_000}]
        ],
        "Goals and limits" => [
          [:slo, :goals, "GOAL", "service level objective: how many requests must take less than how long, such as " \
            "\"90% < 300ms\"; of one endpoint \"GET /articles/:id: 99% < 1s\"; several must all hold"],
          [:at, :per_second, "RATE", "load at which the goals must hold, such as 120/s",
            {usual: "the recording's load"}],
          [:memory, :bytes, "SIZE", "memory that all processes may use together (PSS), such as 2GiB or 512MiB"],
          [:cores, :count, "N", "cores that the server has, as --what-if cores=N",
            {usual: "the recorded machine's", limits: Predict::WhatIf::Cores::COUNTS}],
          [:db_connections, :count, "N", "connections that the database takes from all machines together; " \
            "each thread may need one", {usual: "any number", limits: 1..1_000_000}],
          [:for_workers, :count, "N", "workers to estimate the memory for",
            {usual: "as many as run", limits: 1..1_000}]
        ],
        "Advice" => [
          [:prove, :flag, nil, "measure each advice that has anything to set against today's setting, in one proof"],
          [:forget, :flag, nil, "forget what earlier proofs showed of this app's advice"],
          [:diff, :flag, nil, "show the advice as a diff of the app's files, as `git apply` takes it"],
          [:write, :flag, nil, "show that diff, and write it into the app's files"],
          [:only, :list, "RULE,…", "rules whose advice is taken, such as topology,affinity " \
            "(docs/reference/advice.md names them)"]
        ],
        "Proof" => [
          [:factor, :texts, "KEY=VALUE,…", "values of a factor; every combination of factors is a variant"],
          [:variants, :file, "FILE", "Ruby file that declares variants"],
          [:copy, :list, "FILE,…", "the app's files that git ignores and each git= checkout needs, such as " \
            "config/master.key"],
          [:primary, :text, "METRIC", "metric that decides the proof, such as cpu_per_request or p97.5"],
          [:expect, :texts, "EXPECTATION", "what the proof must show, " \
            "such as \"throughput >= 1.2\", \"p99 not worse\" or, of any percentage, \"97.5% < 300ms\"; " \
            "exit code 1 if it does not"],
          [:looks, :counts, "N,…", "interim looks: stop early if the result is clear after these rounds, such as " \
            "10,20,40, instead of --rounds", {limits: 1..256}],
          [:precision, :percent, "PERCENT", "half width that the intervals are to have: the number of rounds follows " \
            "from the scatter of the first 8 or more, and --rounds is the most",
            {usual: "none: as many as --rounds says"}],
          [:equivalent, :percent, "PERCENT", "equivalence margin: differences within it count as none", {default: "2"}],
          [:trial_duration, :seconds, "SECONDS", "how long each trial of the proof sends load", {limits: ..3_600}],
          [:turns, :count, "N", "how often the variants alternate within a round; 1: one server runs at a time",
            {default: "8", limits: 1..100}],
          [:noise_rounds, :count, "N", "A/A rounds beforehand, the baseline against itself, to measure noise; 0: none",
            {default: "4", limits: 0..100}],
          [:warmup_window, :seconds, "SECONDS", "length of a warm-up window; a trial has at least three",
            {default: "0.7", limits: ..3_600}],
          [:warmup_limit, :seconds, "SECONDS", "when to start a trial although it is not steady", {limits: ..3_600}],
          [:probe_duration, :seconds, "SECONDS", "load with the probe after each trial, to find the cause; 0: none",
            {default: "1.2", limits: 0..3_600}],
          [:allow, :texts, "KEY", "what may differ without being declared: " \
            "the beginning of a fingerprint's key, such as \"gem rack\""],
          [:bodies_may_differ, :flag, nil, "compare variants although their responses differ in length"],
          [:busy_machine, :flag, nil, "count rounds although other processes disturbed them"],
          [:resume, :flag, nil, "continue an interrupted run with the same options"],
          [:false_alarms, :count, "N", "run N short A/A proofs, the baseline against itself, " \
            "and report how many found a difference", {limits: 2..1_000}]
        ],
        "Trade-off" => [
          [:yjit_memory, :count_list, "MIB,…", "YJIT memory limits to compare with its default", {limits: 1..2_048}],
          [:thresholds, :count_list, "N,…", "YJIT call thresholds to compare with its default",
            {limits: 1..100_000}],
          [:cross, :flag, nil, "every YJIT memory limit with every call threshold, instead of one at a time"]
        ],
        "Profile" => [
          [:mode, :text, "MODE", "what to profile; --list names a profiler's modes", {usual: "the profiler's usual"}],
          [:interval, :count, "MICROSECONDS", "time between samples",
            {usual: "the profiler's usual", limits: 10..1_000_000}],
          [:outliers, :flag, nil, "keep only outliers: the slowest requests, or with far more GVL wait or GC"],
          [:request, :text, "PATH", "profile single requests to this path, one at a time, " \
            "from when Puma takes one to the end of its response"],
          [:times, :count, "N", "number of requests with --request or --url",
            {usual: "20; 1 of a profiler that follows every call", limits: 1..10_000}],
          [:token, :text, "TOKEN", "the token that the app's PumaTuner::ProfilerMiddleware has; for --url"],
          [:name, :text, "NAME", "which block of the file to profile"],
          [:iterations, :count, "N", "iterations of the block",
            {usual: "as many as fit into --duration; 1 of a profiler that follows every call", limits: 1..10_000_000}],
          [:read, :file, "FILE,…", "read profilers' own files instead of taking a profile"],
          [:whole, :flag, nil, "with --read: keep frames above a request, and waiting threads"],
          [:list, :flag, nil, "list the profilers, their modes, and whether they are installed"],
          [:install, :text, "PROFILER", "install a profiler (or " \
            "all) outside of any bundle, where this command finds it"]
        ],
        "Lanes" => [
          [:beside, :texts, "FILE", "another recording, to show beside the first"]
        ],
        "Servers at work" => [
          [:every, :seconds, "SECONDS", "time between two readings; figures are of five such times",
            {default: "2", limits: 0.1..60}],
          [:once, :flag, nil, "measure one window, print it with its forecast, and end"],
          [:json, :flag, nil, "print documents, a line for each reading"],
          [:web, :flag, nil, "serve it as a page, to browsers of this machine alone"],
          [:listen, :text, "ADDRESS", "where that page is served: tcp://127.0.0.1:PORT (port 0 takes any that is " \
            "free), or unix:///path/of/socket", {default: "tcp://127.0.0.1:0"}],
          [:url, :text, "URL", "address of a running server"],
          [:for, :time, "TIME", "how long it lasts, such as 10m", {default: "10m"}],
          [:act, :text, "HOW", "observe: say what would be done; trial: try each step on one worker, and undo it; " \
            "auto: keep to what does no harm", {default: "observe"}],
          [:cool_down, :time, "TIME", "how long a step is tried on one worker, and what passes until the next",
            {default: "60s"}],
          [:journal, :file, "FILE", "file for each reading and decision, a line of JSON each"],
          [:replay, :file, "FILE", "make the decisions of such a file once more; no server is needed"],
          [:step, :text, "TIME", "length of the spans that a window is divided into",
            {usual: "by its length: an hour for days"}],
          [:a_end, :text, "INSTANT", "when the window of --a ends, such as 2026-03-02T10:00:00Z", {usual: "now"}],
          [:b_end, :text, "INSTANT", "when the window of --b ends", {usual: "now"}],
          [:source, :text, "SOURCE", "auto, rules (ops/prometheus/rules.yml) or raw (the exporter's own metrics)",
            {default: "auto"}],
          [:by, :text, "LABEL", "the label that names services", {usual: "service, or job"}],
          [:services, :text, "SELECTOR", "labels of the services to report", {usual: "all"}],
          [:timeout, :seconds, "SECONDS", "limit for each query", {default: "60", limits: ..3_600}],
          [:header, :texts, "HEADER", "header to send, such as \"X-Scope-OrgID: team\""],
          [:cert, :file, "FILE", "client certificate (PEM) for a server that asks for one"],
          [:key, :file, "FILE", "private key of --cert (PEM, unencrypted)"]
        ],
        "Routes" => [
          [:routes, :flag, nil, "ask the app in --directory for its GET routes (Rails, Sinatra, Grape), with ids " \
            "from its database; it is loaded in a process of its own, and asked with GET alone"],
          [:limit, :count, "N", "values for a route's parameters, the newest", {default: "20", limits: 1..1_000}],
          [:exclude, :list, "PATTERN,…", "paths to leave out, such as '/admin/*'"]
        ],
        "Log" => [
          [:log_format, :text, "FORMAT",
            "format of the log: alb, apache (with %D), caddy, combined, heroku, kamal, lograge, nginx (JSON) or rails",
            {usual: "recognised by its first lines, but for apache"}],
          [:methods, :list, "METHOD,…", "methods to include; others than GET change data when they are sent again",
            {default: "GET"}],
          [:assets, :flag, nil, "include images, stylesheets and scripts"],
          [:seen_from, :text, "WHO", "which time of a request: app (what the app took, as who asked it saw it) or " \
            "client (until the client had its response)", {usual: "app, where both logs tell it"}],
          [:grouping, :file, "FILE", "Ruby file that calls PumaTuner.group_endpoints; endpoints are named by it"],
          [:top, :count, "N", "how many kinds of requests to keep, the most frequent " \
            "first", {default: "200", limits: 1..1_000}],
          [:keep_values, :flag, nil, "write the values in paths and queries into a data file; " \
            "these may be names, searches and tokens of your users"],
          [:instants, :file, "FILE", "file for the times of the first #{Loads::REPLAYED_MAX} requests, " \
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
