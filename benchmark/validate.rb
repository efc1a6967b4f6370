# frozen_string_literal: true

# Predictions, each from one recording, against a real Puma under real load, over a grid of workloads, settings, loads,
# Rubies and Pumas. Ends with status 1 when they miss one of their targets, with 3 when not all could be measured, or too
# noisily to tell.
#
#   bin/exec rake validate QUICK=1    (some ten minutes; of any use only on a machine with nothing else to do)
#   bin/exec rake validate            (ten hours)
#
# Both go on where they were interrupted: what has been measured is kept.

require_relative "support/script"
require_relative "validate/suite"

ARGV.unshift("--quick") if ENV["QUICK"] == "1"
Script.run("validate") { Validation::Suite.new(Validation::Options.parse(ARGV)).run }
