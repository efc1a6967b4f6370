# frozen_string_literal: true

require_relative "../support/script"

module SimSpeed
  # What the command line asks for.
  #
  # rounds_count: nil for the usual number
  Options = Data.define(:rounds_count, :quick, :write) do
    extend Script::Options

    def self.defaults = {rounds_count: nil, quick: false, write: false}
    private_class_method :defaults

    def self.parser(given)
      OptionParser.new("Usage: ruby -Ilib benchmark/sim_speed.rb [options]") do |parser|
        parser.on("--rounds N", Integer, "everything this often (default: #{Rounds::ROUNDS_COUNT})") { |count| given[:rounds_count] = positive(count) }
        parser.on("--quick", "two rounds of a twentieth, to see whether it works; its numbers mean nothing") { given[:quick] = true }
        parser.on("--write", "write docs/sim_speed.md") { given[:write] = true }
      end
    end
    private_class_method :parser

    # The page is written whole, and people will quote it.
    def insist_on_a_whole_page
      raise OptionParser::InvalidArgument, "--write needs whole rounds: no --quick" if write && quick
    end
  end
end
