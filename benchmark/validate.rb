# frozen_string_literal: true

# Predictions against a real Puma under real load, over a grid of workloads, settings, loads, Rubies and Pumas, and on applications that nobody
# here wrote (labs/real_apps; those that are not installed are told as missing). Ends with status 1 when they miss one of their targets, with 3 when not all could be measured, or too
# noisily to tell.
#
#   bin/exec rake validate QUICK=1    (some ten minutes; of any use only on a machine with nothing else to do)
#   bin/exec rake validate MEDIUM=1   (some forty minutes: the classes of work and the real applications, a few cells of each)
#   bin/exec rake validate            (a day)
#
# All go on where they were interrupted: what has been measured is kept.

require_relative "support/script"
require_relative "validate/suite"

%w[quick medium].each { |form| ARGV.unshift("--#{form}") if ENV[form.upcase] == "1" }
Script.run("validate") { Validation::Suite.new(Validation::Options.parse(ARGV)).run }
