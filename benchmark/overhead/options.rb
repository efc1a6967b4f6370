# frozen_string_literal: true

require "optparse"
require_relative "variant"

module Overhead
  # What the command line asks for.
  #
  # rounds_count: nil for each part's own; parts: of PARTS; tools: of Variant::TOOLS
  Options = Data.define(:rounds_count, :quick, :parts, :tools, :write) do
    const_set(:PARTS, %w[cycle request].freeze)

    # @param words [Array<String>]
    # @raise [OptionParser::ParseError]
    def self.parse(words)
      given = {rounds_count: nil, quick: false, parts: self::PARTS, tools: Variant::TOOLS, write: false}
      left = parser(given).parse(words)
      raise OptionParser::NeedlessArgument, left.join(" ") if left.any?
      new(**given).tap(&:insist_on_a_whole_page)
    end

    def self.parser(given)
      OptionParser.new("Usage: ruby -Ilib benchmark/overhead.rb [options], under gemfiles/rivals.gemfile") do |parser|
        parser.on("--rounds N", Integer, "every variant this often (default: cycle 15, request 7)") do |count|
          given[:rounds_count] = positive(count)
        end
        parser.on("--quick", "a few short rounds, to see whether it works; its numbers mean nothing") { given[:quick] = true }
        parser.on("--only PART", self::PARTS, "cycle or request") { |part| given[:parts] = [part] }
        parser.on("--tools A,B", Array, "some of #{Variant::TOOLS.join(",")}") { |names| given[:tools] = known(names) }
        parser.on("--write", "write docs/overhead.md") { given[:write] = true }
      end
    end
    private_class_method :parser

    def self.positive(count)
      count.positive? ? count : raise(OptionParser::InvalidArgument, "at least one round, got #{count}")
    end
    private_class_method :positive

    def self.known(names)
      unknown = names - Variant::TOOLS
      unknown.empty? ? names : raise(OptionParser::InvalidArgument, "#{unknown.join(",")}; there is #{Variant::TOOLS.join(",")}")
    end
    private_class_method :known

    # The page is written whole, and people will quote it.
    def insist_on_a_whole_page
      whole = !quick && parts == self.class::PARTS && tools.sort == Variant::TOOLS.sort
      return if whole || !write
      raise OptionParser::InvalidArgument, "--write needs all parts and tools, and no --quick"
    end
  end
end
