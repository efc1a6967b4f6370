# frozen_string_literal: true

# How fast the simulation is: events per second on one core, a whole sweep on all of them, and SimPy on the same queue.
# Ends with status 1 when it misses one of its targets by more than the noise that was measured.
#
#   bin/exec rake sim_speed    (a few minutes; of any use only on a machine with nothing else to do)

require_relative "support/script"
require_relative "sim_speed/suite"

Script.run("sim_speed") { SimSpeed::Suite.new(SimSpeed::Options.parse(ARGV)).run }
