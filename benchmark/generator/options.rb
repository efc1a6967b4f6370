# frozen_string_literal: true

require_relative "../support/script"

module GeneratorBenchmark
  # What the command line asks for.
  #
  # rounds_count: nil for each part's own; parts: of PARTS
  Options = Data.define(:rounds_count, :quick, :parts, :write) do
    const_set(:PARTS, %w[cost lag].freeze)

    extend Script::Options

    def self.defaults = {rounds_count: nil, quick: false, parts: self::PARTS, write: false}
    private_class_method :defaults

    def self.parser(given)
      OptionParser.new("Usage: ruby -Ilib benchmark/generator.rb [options]") do |parser|
        parser.on("--rounds N", Integer, "every variant this often (default: cost #{Cost::ROUNDS_COUNT}, lag #{Lag::ROUNDS_COUNT})") do |count|
          given[:rounds_count] = positive(count)
        end
        parser.on("--quick", "a few short rounds, to see whether it works; its numbers mean nothing") { given[:quick] = true }
        parser.on("--only PART", self::PARTS, "cost or lag") { |part| given[:parts] = [part] }
        parser.on("--write", "write docs/generator.md") { given[:write] = true }
      end
    end
    private_class_method :parser

    # The page is written whole, and people will quote it.
    def insist_on_a_whole_page
      return if !write || (!quick && parts == self.class::PARTS)
      raise OptionParser::InvalidArgument, "--write needs both parts, and no --quick"
    end
  end
end
