# frozen_string_literal: true

# CPU time and objects per query, gem against patched, in fresh processes and interleaved rounds: a quick look while searching.
# What is published was proved by `puma_tuner prove --block blocks.rb`.
#
#     bin/exec ruby labs/06-graphql-today/measure.rb [--rounds 5] [--engines classic,next] [--queries introspection,flat,parent]
#       [--yjit off,on] [--patches 0,1] [--ruby PATH] [--seconds 1.5]
require "json"
require "open3"
require "optparse"
require "rbconfig"

module GraphqlToday
  # One fresh process: warms up, then counts.
  module MeasureChild
    module_function

    def call(engine, query, patches, seconds)
      require_relative "workloads"
      require_relative "patches"
      Patches.load_named(patches)
      ask = Workloads.fetch(engine:, query:)
      repeat(ask, seconds)
      puts JSON.generate({**counted(ask, seconds), objects: objects(ask), fields: Workloads.field_count(ask.call)})
    end

    def repeat(ask, seconds)
      ends = cpu_s + seconds
      count = 0
      ask.call && count += 1 while cpu_s < ends
      count
    end

    # The median of ten windows: a neighbour's burst spoils some of them.
    def counted(ask, seconds)
      GC.start
      windows = Array.new(10) do
        from = cpu_s
        count = repeat(ask, seconds / 10)
        (cpu_s - from) * 1e3 / count
      end
      {cpu_ms: windows.sort[5]}
    end

    def objects(ask)
      from = GC.stat(:total_allocated_objects)
      10.times { ask.call }
      (GC.stat(:total_allocated_objects) - from) / 10
    end

    def cpu_s = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
  end

  # Rounds of all variants of a cell, in shuffled order.
  class Measure
    def initialize(options)
      @options = options
      @random = Random.new(1)
    end

    def call
      $stdout.sync = true
      cells = @options[:engines].product(@options[:queries], @options[:yjit])
      cells.each { |engine, query, yjit| puts line(engine, query, yjit, rounds(engine, query, yjit)) }
    end

    private

    def rounds(engine, query, yjit)
      Array.new(@options[:rounds]) do
        @options[:patches].shuffle(random: @random).to_h { |patches| [patches, run(engine, query, yjit, patches)] }
      end
    end

    def run(engine, query, yjit, patches)
      command = [@options[:ruby], ("--yjit" if yjit == "on"), __FILE__, "child", engine, query, patches, @options[:seconds].to_s].compact
      output, status = Open3.capture2({"RUBYOPT" => nil, "RUBYLIB" => nil}, *command)
      raise "#{command.join(" ")} failed" unless status.success?
      JSON.parse(output.lines.last, symbolize_names: true)
    end

    def line(engine, query, yjit, rounds)
      first, *others = @options[:patches]
      told = "#{engine} #{query} yjit #{yjit}: #{format("%.2f ms, %d objects", median(rounds.map { |round| round[first][:cpu_ms] }), rounds.last[first][:objects])}"
      others.reduce(told) do |text, patches|
        ratios = rounds.map { |round| round[first][:cpu_ms] / round[patches][:cpu_ms] }
        text + format(" | %s: %.2f ms, %.2fx (%.2f-%.2f), %d objects", patches, median(rounds.map { |round| round[patches][:cpu_ms] }), median(ratios), *ratios.minmax, rounds.last[patches][:objects])
      end
    end

    def median(values) = values.sort[values.size / 2]
  end
end

if ARGV.first == "child"
  GraphqlToday::MeasureChild.call(*ARGV[1, 3], Float(ARGV[4]))
else
  options = {rounds: 5, engines: %w[classic next], queries: %w[introspection flat parent], yjit: %w[off on], patches: %w[0 1], ruby: RbConfig.ruby, seconds: 1.5}
  OptionParser.new do |parser|
    parser.on("--rounds N", Integer) { |value| options[:rounds] = value }
    parser.on("--seconds N", Float) { |value| options[:seconds] = value }
    parser.on("--ruby PATH") { |value| options[:ruby] = value }
    %i[engines queries yjit].each { |name| parser.on("--#{name} LIST", Array) { |value| options[name] = value } }
    parser.on("--patches LIST", "separated by spaces") { |value| options[:patches] = value.split }
  end.parse!
  GraphqlToday::Measure.new(options).call
end
