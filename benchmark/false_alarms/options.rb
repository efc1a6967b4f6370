# frozen_string_literal: true

require "optparse"

module FalseAlarms
  # What the command line asks for.
  #
  # repeats_count: simulated proofs of each kind
  Options = Data.define(:repeats_count, :seed, :write) do
    const_set(:REPEATS_COUNT, 3_000)

    # @param words [Array<String>]
    # @raise [OptionParser::ParseError]
    def self.parse(words)
      given = {repeats_count: self::REPEATS_COUNT, seed: 1, write: false}
      left = parser(given).parse(words)
      raise OptionParser::NeedlessArgument, left.join(" ") if left.any?
      new(**given).tap(&:insist_on_a_whole_page)
    end

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

    def self.positive(count)
      count.positive? ? count : raise(OptionParser::InvalidArgument, "at least one repeat, got #{count}")
    end
    private_class_method :positive

    # The page is written whole, and people will quote it.
    def insist_on_a_whole_page
      return if !write || repeats_count >= self.class::REPEATS_COUNT
      raise OptionParser::InvalidArgument, "--write needs #{self.class::REPEATS_COUNT} repeats or more"
    end
  end
end
