# frozen_string_literal: true

# How long `puma_tuner fleet` takes over a fleet of 2,000 workers and seven days: by the rules that we ship, written as they would have
# recorded them; and how what they spare grows with the fleet, from smaller ones written in full.
# Ends with status 1 when the weekly comparison takes more than its target.
#
#   bin/exec rake fleet_scale    (some 10 minutes and 2 GB in tmp/; figures of use only on a machine with nothing else to do)

require_relative "support/script"
require_relative "fleet_scale/suite"

Script.run("fleet_scale") { FleetScale::Suite.new(FleetScale::Options.parse(ARGV)).run }
