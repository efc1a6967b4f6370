# frozen_string_literal: true

# Which load generators tell the truth about a server that stands still. Ends with status 1 when our own does not.
#
#   bin/exec rake stall    (half a minute)

require_relative "support/script"
require_relative "stall/suite"

Script.run("stall") do
  write = false
  left = OptionParser.new("Usage: ruby -Ilib benchmark/stall.rb [--write]") { |parser| parser.on("--write", "write docs/stall.md") { write = true } }.parse(ARGV)
  raise OptionParser::NeedlessArgument, left.join(" ") if left.any?
  StallBenchmark::Suite.new(write:).run
end
