# frozen_string_literal: true

# Does each tool say where time went as it truly did? Work of known truth, under the probe and under others' tools.
# Ends with status 1 when the probe misses one of its targets beyond noise.
#
#   bin/exec rake accuracy    (half an hour; of any use only on a machine with nothing else to do)

require "puma_tuner"
require_relative "accuracy/suite"

begin
  options = Accuracy::Options.parse(ARGV)
  exit Accuracy::Suite.new(options).run
rescue PumaTuner::UserMistake, OptionParser::ParseError => error
  warn "accuracy: #{error.message}"
  exit 2
rescue Interrupt
  # Whatever was started has been ended on the way here.
  warn "accuracy: interrupted"
  exit 130
end
