# frozen_string_literal: true

# Every reader of what somebody else wrote, with inputs that are not as they should be: a million, changed by chance from some that are (test/support/fuzz).
# `rake fuzz`; SEED=, COUNT=, READER=; INPUT=READER:NUMBER shows what one input comes to. Ends with status 1 when a reader crashed, hung, took memory
# without bounds, raised what is no refusal, or refused without a reason.

$LOAD_PATH.unshift(File.expand_path("../test", __dir__))
require_relative "support/bench"
require "support/fuzz/readers"

module FuzzRun
  Options = Bench::Options.define("fuzz", page: "docs/measured/reliability.md", needs: "all readers, and a million inputs", seed: Integer(ENV.fetch("SEED", "1")),
    count: Integer(ENV.fetch("COUNT", "1000000")), reader: ENV["READER"], input: ENV["INPUT"]) do |parser, given|
    parser.on("--seed N", Integer, "of the changes (default: 1)") { |seed| given[:seed] = seed }
    parser.on("--count N", Integer, "inputs of all readers together (default: 1000000)") { |count| given[:count] = positive(count) }
    parser.on("--reader TEXT", "those whose name has this") { |name| given[:reader] = name }
    parser.on("--input READER:NUMBER", "show what one input comes to") { |input| given[:input] = input }
  end

  class Options
    # @return [Boolean] whether it is worth a section
    def whole? = reader.nil? && count >= 1_000_000
  end

  # A section of docs/measured/reliability.md.
  class Page < Bench::Page
    HEADING = "## Fuzz: readers, and inputs that are not as they should be"

    # @param results [Array<Fuzz::Outcome>]
    # @param options [Options]
    def initialize(results:, options:, **)
      super(**)
      @found = results
      @options = options
    end

    # @return [Array<Symbol>]
    def outcomes = [findings.empty? ? :met : :missed]

    # @return [String] Markdown
    def to_s
      <<~MARKDOWN
        #{HEADING}

        Written by `benchmark/fuzz.rb`; not to be edited.

        #{facts}
        Command: `bin/exec rake fuzz`; seed #{@options.seed}, #{Bench::Markdown.grouped(total(:inputs_count))} inputs in #{(total(:seconds) / 60 / PROCESSES_COUNT).round} minutes.

        Each input was changed by chance from one that is as it should be: bits, bytes and pieces of it, numbers made extreme, and types, keys and depth of JSON. Each reader had a process of its own, with #{Fuzz::Trial::LIMIT_S} s for an input
        and #{Fuzz::Trial::MEMORY_BYTES >> 20} MiB; the load generator's reader of HTTP responses, in C, was compiled with AddressSanitizer and UBSan, and each response was read at once and in pieces, which must come to the same.

        **#{findings.empty? ? "No crash, no hang, no memory without bounds, and a reason with each refusal." : "Found: #{findings.join("; ")}."}**

        #{Bench::Markdown.table(["reader", "inputs", "read", "refused with a reason", "findings"], rows)}
      MARKDOWN
    end

    def results = to_s

    private

    def rows = @found.map { |one| [one.reader, *[one.inputs_count, one.read_count, one.refused_count, one.findings.size].map { |number| Bench::Markdown.grouped(number) }] }

    def findings = @found.flat_map(&:findings)

    def total(field) = @found.sum(&field)
  end

  # So many readers at a time.
  PROCESSES_COUNT = 2

  TELL_EVERY_S = 30

  class << self
    # @param options [Options]
    # @return [Array<Fuzz::Outcome>] in the order of the readers
    # @raise [PumaTuner::UsageError]
    def run(options)
      readers = Fuzz::Readers.all.select { |reader| options.reader.nil? || reader.name.include?(options.reader) }
      raise PumaTuner::UsageError, "there is no reader with #{options.reader.inspect} in its name" if readers.empty?
      shares = Fuzz::Readers.shares(options.count, readers).to_a
      waiting = Queue.new(shares.each_index.to_a).close
      found = Array.new(shares.size)
      threads = Array.new(PROCESSES_COUNT) do
        Thread.new do
          while (place = waiting.pop)
            found[place] = one(*shares[place], options.seed)
          end
        end
      end
      threads.each(&:join)
      found
    end

    # Prints one input, what it comes to, and why.
    # @return [void]
    def show(options)
      name, _, number = options.input.rpartition(":")
      reader = Fuzz::Readers.all.find { |one| one.name == name } or raise PumaTuner::UsageError, "there is no reader #{name.inspect}"
      trial = Fuzz::Trial.new(reader, seed: options.seed)
      puts trial.input(Integer(number)).inspect, *trial.try(Integer(number))
    end

    private

    def one(reader, count, seed)
      told_s = PumaTuner::Clock.now_s
      outcome = Fuzz::Trial.new(reader, seed:).run(count) do |done|
        next if PumaTuner::Clock.now_s - told_s < TELL_EVERY_S
        told_s = PumaTuner::Clock.now_s
        warn "fuzz: #{reader.name}: #{done} of #{count}"
      end
      warn "fuzz: #{reader.name}: #{count} inputs in #{outcome.seconds.round} s, #{outcome.read_count} read, #{outcome.refused_count} refused", *outcome.findings.map { |finding| "  #{finding}" }
      outcome
    end
  end
end

Bench.program(__FILE__, FuzzRun::Options) do |options, machine|
  next exit(FuzzRun.show(options) || 0) if options.input
  FuzzRun::Page.new(machine:, results: FuzzRun.run(options), options:)
end
