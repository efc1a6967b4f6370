# frozen_string_literal: true

require_relative "../support/script"

module FalseAlarms
  # What the command line asks for.
  #
  # repeats_count: simulated proofs of each kind
  Options = Data.define(:repeats_count, :seed, :write) do
    const_set(:REPEATS_COUNT, 3_000)

    extend Script::Options

    def self.defaults = {repeats_count: self::REPEATS_COUNT, seed: 1, write: false}
    private_class_method :defaults

    def self.parser(given)
      OptionParser.new("Usage: ruby -Ilib benchmark/false_alarms.rb [options]") do |parser|
        parser.on("--repeats N", Integer, "simulated proofs of each kind (default: #{self::REPEATS_COUNT})") do |count|
          given[:repeats_count] = positive(count)
        end
        parser.on("--seed N", Integer, "of all chance (default: 1)") { |seed| given[:seed] = seed }
        parser.on("--write", "write docs/false_alarms.md") { given[:write] = true }
      end
    end
    private_class_method :parser

    # The page is written whole, and people will quote it.
    def insist_on_a_whole_page
      return if !write || repeats_count >= self.class::REPEATS_COUNT
      raise OptionParser::InvalidArgument, "--write needs #{self.class::REPEATS_COUNT} repeats or more"
    end
  end
end
