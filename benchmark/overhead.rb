# frozen_string_literal: true

# What the probe costs, beside what others cost: CPU ns per release and re-acquisition of the GVL, and CPU us per request.
# Ends with status 1 when the probe misses one of its targets by more than the noise that two equal variants show, and with 3 when
# noise leaves one open: 0 only when all are met.
#
#   bin/exec rake overhead    (15 minutes; of any use only on a machine with nothing else to do)

require_relative "support/script"
require_relative "overhead/suite"

Script.run("overhead") { Overhead::Suite.new(Overhead::Options.parse(ARGV)).run }
