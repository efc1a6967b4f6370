# frozen_string_literal: true

# Which load generators tell the truth about a server that stands still. Ends with status 1 when our own does not.
#
#   bin/exec rake stall    (half a minute)

require "optparse"
require "puma_tuner"
require_relative "stall/suite"

begin
  write = false
  left = OptionParser.new("Usage: ruby -Ilib benchmark/stall.rb [--write]") { |parser| parser.on("--write", "write docs/stall.md") { write = true } }.parse(ARGV)
  raise OptionParser::NeedlessArgument, left.join(" ") if left.any?
  exit StallBenchmark::Suite.new(write:).run
rescue PumaTuner::UserMistake, OptionParser::ParseError => error
  warn "stall: #{error.message}"
  exit 2
rescue Interrupt
  # Whatever was started has been ended on the way here.
  warn "stall: interrupted"
  exit 130
end
