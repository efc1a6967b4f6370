# frozen_string_literal: true

# What each profiler costs, in CPU time of the app: `rake profilers`. The page that is made is small: 40 rows, sorted, filtered, through
# ERB and JSON, by four threads. Each round runs each profiler and mode once, in shuffled order, in a fresh process.

require "tmpdir"
require_relative "support/bench"

module ProfilersBenchmark
  # The measured process.
  PROGRAM = <<~'RUBY'
    require "erb"
    require "json"
    Row = Struct.new(:id, :name, :price) do
      def title = "#{name} no. #{id}"
      def taxed = price * 1.19
    end
    TEMPLATE = ERB.new("<ul><% rows.each do |r| %><li><%= r.title %>: <%= format('%.2f', r.taxed) %></li><% end %></ul>")
    TEMPLATE.def_method(Object, "html(rows)")
    def page(number)
      rows = Array.new(40) { |i| Row.new(i + number, "thing #{i}", i * 1.5) }
      rows = rows.sort_by { |r| -r.taxed }.select { |r| r.id.odd? || r.price > 10 }
      HTML.call(rows).size + JSON.parse(JSON.generate(rows.map { |r| {id: r.id, title: r.title, price: r.price} })).size
    end
    300.times { |i| page(i) }
    name, mode, path, count = ARGV.shift(4)
    $LOAD_PATH.concat(ARGV)
    require "puma_tuner"
    profiler = PumaTuner::Probe::Profilers.find(name).new(path:, mode:) unless name == "none"
    profiler&.start
    used = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
    4.times.map { Thread.new { (count.to_i / 4).times { |i| page(i) } } }.each(&:join)
    used = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) - used
    stopped = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    profiler&.stop
    puts used / count.to_i * 1e6, Process.clock_gettime(Process::CLOCK_MONOTONIC) - stopped, profiler ? File.size(path) : 0
  RUBY

  # Whose template is compiled once, as an app's are, or for each page anew.
  COMPILED = "HTML = ->(rows) { html(rows) }\n"
  THROWN_AWAY = "HTML = ->(rows) { TEMPLATE.result_with_hash(rows:) }\n"

  ROUNDS_COUNT = 5

  Options = Bench::Options.define("profilers", rounds: "default: #{ROUNDS_COUNT}", pages_count: 6_000, only: nil, throw_away: false) do |parser, given|
    parser.on("--pages N", Integer, "in a run (default: 6000)") { |count| given[:pages_count] = positive(count) }
    parser.on("--only NAME", "of a profiler") { |name| given[:only] = name }
    parser.on("--throw-away", "compile the template for each page anew, and throw the code away") { given[:throw_away] = true }
  end

  Cost = Data.define(:cpu_us, :stop_s, :file_bytes)

  # Lines. No target: what a profiler may cost is for its user to say.
  Result = Data.define(:results) do
    def outcomes = []
  end

  module_function

  # @return [Cost, nil] nil when the process died
  def run(name, mode, paths, pages_count, template)
    Dir.mktmpdir do |folder|
      out = IO.popen([ENV.keys.grep(/\A(BUNDLE|RUBY)/).to_h { |key| [key, nil] }, RbConfig.ruby, "--yjit", "-I", Bench::LIBRARY_FOLDER, "-e", template + PROGRAM,
        name, mode, File.join(folder, "out"), pages_count.to_s, *paths, {err: File::NULL}], &:read)
      Cost.new(*out.split.map(&:to_f)) if $?.success?
    end
  end

  # Of StackProf's wall mode there is nothing to say: it sees one thread.
  def pairs(only)
    installed = PumaTuner::Probe::Profilers.all.select { |profiler| profiler::GEM && PumaTuner::Profile::Library.installed?(profiler) }
    all = installed.flat_map { |profiler| profiler::MODES.keys.map { |mode| [profiler::NAME, mode] } } - [%w[stackprof wall]]
    [%w[none -]] + (only ? all.select { |name, _| name == only } : all)
  end

  # @return [Result]
  def call(options)
    pairs = pairs(options.only)
    paths = pairs.to_h { |name, _| [name, (name == "none") ? [] : PumaTuner::Profile::Library.locate(PumaTuner::Probe::Profilers.find(name)::GEM)] }
    costs = pairs.to_h { |pair| [pair, []] }
    (options.rounds_count || ROUNDS_COUNT).times do
      pairs.shuffle.each { |name, mode| costs[[name, mode]] << run(name, mode, paths[name], options.pages_count, options.throw_away ? THROWN_AWAY : COMPILED) }
    end
    base_us = Bench.median(costs[%w[none -]].compact.map(&:cpu_us))
    Result.new(results: costs.map { |pair, found| line(pair, found, base_us) })
  end

  def line(pair, found, base_us)
    whole = found.compact
    return format("%-16s %-12s died in all %d runs", *pair, found.size) if whole.empty?
    ratios = whole.map { |cost| cost.cpu_us / base_us }
    format("%-16s %-12s x%.2f (%.2f to %.2f)  stop %.2f s  file %d KB  died in %d of %d runs", *pair, Bench.median(ratios), *ratios.minmax,
      Bench.median(whole.map(&:stop_s)), Bench.median(whole.map(&:file_bytes)) / 1024, found.size - whole.size, found.size)
  end
end

Bench.program(__FILE__, ProfilersBenchmark::Options) { |options, _machine| ProfilersBenchmark.call(options) }
