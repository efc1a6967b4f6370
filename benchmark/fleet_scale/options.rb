# frozen_string_literal: true

require_relative "../support/script"

module FleetScale
  # What the command line asks for.
  #
  # workers_count, hours_count: of the whole fleet, by rules; raw_workers_counts, raw_hours_count: of those written in full
  Options = Data.define(:workers_count, :hours_count, :raw_workers_counts, :raw_hours_count, :services_count, :rounds_count, :write) do
    extend Script::Options

    def self.defaults = {workers_count: 2_000, hours_count: 168, raw_workers_counts: [50, 100, 200], raw_hours_count: 4, services_count: 5, rounds_count: 3, write: false}
    private_class_method :defaults

    def self.parser(given)
      OptionParser.new("Usage: ruby -Ilib benchmark/fleet_scale.rb [options]") do |parser|
        parser.on("--workers N", Integer, "of the whole fleet (default: 2000)") { |count| given[:workers_count] = positive(count) }
        parser.on("--hours N", Integer, "that it has served (default: 168)") { |count| given[:hours_count] = positive(count) }
        parser.on("--raw-workers LIST", Array, "of fleets written in full (default: 50,100,200)") { |list| given[:raw_workers_counts] = list.map { |text| positive(text.to_i) } }
        parser.on("--raw-hours N", Integer, "that those have served (default: 4)") { |count| given[:raw_hours_count] = positive(count) }
        parser.on("--quick", "small ones, to see whether it works; its numbers mean nothing") do
          given.merge!(workers_count: 40, hours_count: 8, raw_workers_counts: [8, 16], raw_hours_count: 2, services_count: 1, rounds_count: 1)
        end
        parser.on("--write", "write docs/fleet_scale.md") { given[:write] = true }
      end
    end
    private_class_method :parser

    # The page is written whole, and people will quote it.
    def insist_on_a_whole_page
      return if !write || (workers_count >= 2_000 && hours_count >= 168 && raw_workers_counts.size > 2)
      raise OptionParser::InvalidArgument, "--write needs the whole fleet, and three in full"
    end
  end
end
