# frozen_string_literal: true

require_relative "../support/script"
require_relative "variant"

module Overhead
  # What the command line asks for.
  #
  # rounds_count: nil for each part's own; parts: of PARTS; tools: of Variant::TOOLS
  Options = Data.define(:rounds_count, :quick, :parts, :tools, :write) do
    const_set(:PARTS, %w[cycle request].freeze)

    extend Script::Options

    def self.defaults = {rounds_count: nil, quick: false, parts: self::PARTS, tools: Variant::TOOLS, write: false}
    private_class_method :defaults

    def self.parser(given)
      OptionParser.new("Usage: ruby -Ilib benchmark/overhead.rb [options], under gemfiles/rivals.gemfile") do |parser|
        parser.on("--rounds N", Integer, "every variant this often (default: cycle 15, request 7)") do |count|
          given[:rounds_count] = positive(count)
        end
        parser.on("--quick", "a few short rounds, to see whether it works; its numbers mean nothing") { given[:quick] = true }
        parser.on("--only PART", self::PARTS, "cycle or request") { |part| given[:parts] = [part] }
        parser.on("--tools A,B", Array, "some of #{Variant::TOOLS.join(",")}") { |names| given[:tools] = known(names, Variant::TOOLS) }
        parser.on("--write", "write docs/overhead.md") { given[:write] = true }
      end
    end
    private_class_method :parser

    # The page is written whole, and people will quote it.
    def insist_on_a_whole_page
      whole = !quick && parts == self.class::PARTS && tools.sort == Variant::TOOLS.sort
      return if whole || !write
      raise OptionParser::InvalidArgument, "--write needs all parts and tools, and no --quick"
    end
  end
end
