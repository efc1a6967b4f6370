# frozen_string_literal: true

# What the probe costs, beside what others cost: CPU ns per release and re-acquisition of the GVL, and CPU us per request.
# Ends with status 1 when the probe misses one of its targets by more than the noise that two equal variants show.
#
#   bin/exec rake overhead    (15 minutes; of any use only on a machine with nothing else to do)

require "puma_tuner"
require_relative "overhead/suite"

begin
  options = Overhead::Options.parse(ARGV)
  exit Overhead::Suite.new(options).run
rescue PumaTuner::UserMistake, OptionParser::ParseError => error
  warn "overhead: #{error.message}"
  exit 2
rescue Interrupt
  # Whatever was started has been ended on the way here.
  warn "overhead: interrupted"
  exit 130
end
