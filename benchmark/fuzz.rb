# frozen_string_literal: true

# Every reader of what somebody else wrote, with inputs that are not as they should be: a million, changed by chance from some that are (test/support/fuzz).
# `rake fuzz`; SEED=, COUNT=, READER=; INPUT=READER:NUMBER shows what one input comes to. Ends with status 1 when a reader crashed, hung, took memory
# without bounds, raised what is no refusal, or refused without a reason. Refusals by an exception that was caught are printed, too, and
# counted apart.

$LOAD_PATH.unshift(File.expand_path("../test", __dir__))
require_relative "support/bench"
require "support/fuzz/readers"

module FuzzRun
  Options = Bench::Options.define("fuzz", page: "docs/measured/reliability.md", needs: "all readers, and a million inputs",
    seed: 1, count: 1_000_000, reader: ENV["READER"], input: ENV["INPUT"]) do |parser, given|
    {"SEED" => :seed, "COUNT" => :count}.each do |name, field|
      text = ENV[name] or next
      given[field] = Integer(text, exception: false) or
        raise OptionParser::InvalidArgument, "#{name}=#{text}, where a whole number is needed"
    end
    positive(given[:count])
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

        #{Bench::Markdown.grouped(total(:caught_count))} of the refusals were by an exception that was caught, in #{places_count} places. There the command refuses the file, names it and quotes the exception:
        nothing crashes, but the reason is the exception's own, and not that of a check. These are no findings; `rake fuzz` prints them, each with its place.

        #{Bench::Markdown.table(["reader", "inputs", "read", "refused with a reason", "of them by an exception that was caught", "findings"], rows)}
      MARKDOWN
    end

    def results = to_s

    private

    def rows
      @found.map do |one|
        numbers = [one.inputs_count, one.read_count, one.refused_count, one.caught_count, one.findings.size]
        [one.reader, *numbers.map { |number| Bench::Markdown.grouped(number) }]
      end
    end

    def places_count = @found.flat_map(&:caught).map(&:detail).uniq.size

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
    # @raise [PumaTuner::UsageError]
    def show(options)
      name, number = options.input.match(/\A(.+):(\d+)\z/)&.captures
      name or raise PumaTuner::UsageError,
        "#{options.input}: write READER:NUMBER, the name of a reader and the number of an input, such as ledger:7"
      readers = Fuzz::Readers.all
      reader = readers.find { |one| one.name == name } or
        raise PumaTuner::UsageError, "there is no reader #{name.inspect}; choose from #{readers.map { |one| one.name.inspect }.join(", ")}"
      trial = Fuzz::Trial.new(reader, seed: options.seed)
      puts trial.input(number.to_i).inspect, *trial.try(number.to_i)
    end

    private

    def one(reader, count, seed)
      told_s = PumaTuner::Clock.now_s
      outcome = Fuzz::Trial.new(reader, seed:).run(count) do |done|
        next if PumaTuner::Clock.now_s - told_s < TELL_EVERY_S
        told_s = PumaTuner::Clock.now_s
        warn "fuzz: #{reader.name}: #{done} of #{count}"
      end
      warn "fuzz: #{reader.name}: #{count} inputs in #{outcome.seconds.round} s, #{outcome.read_count} read, " \
        "#{outcome.refused_count} refused (#{outcome.caught_count} by an exception that was caught)",
        *[*outcome.findings, *outcome.caught].map { |one| "  #{one}" }
      outcome
    end
  end
end

Bench.program(__FILE__, FuzzRun::Options) do |options, machine|
  next exit(FuzzRun.show(options) || 0) if options.input
  FuzzRun::Page.new(machine:, results: FuzzRun.run(options), options:)
end
