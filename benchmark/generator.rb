# frozen_string_literal: true

# What our own load generator costs beside wrk, and how late it sends on a machine that it shares with the server.
# Ends with status 1 when it misses one of its targets by more than the noise that was measured.
#
#   bin/exec rake generator    (9 minutes; of any use only on a machine with nothing else to do)

require "puma_tuner"
require_relative "generator/suite"

begin
  options = GeneratorBenchmark::Options.parse(ARGV)
  exit GeneratorBenchmark::Suite.new(options).run
rescue PumaTuner::UserMistake, OptionParser::ParseError => error
  warn "generator: #{error.message}"
  exit 2
rescue Interrupt
  # Whatever was started has been ended on the way here.
  warn "generator: interrupted"
  exit 130
end
