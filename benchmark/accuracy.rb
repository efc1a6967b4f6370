# frozen_string_literal: true

# Does each tool say where time went as it truly did? Work of known truth, under the probe and under others' tools.
# Ends with status 1 when the probe misses one of its targets, and with 3 when noise leaves that open: 0 only when all are met.
#
#   bin/exec rake accuracy    (half an hour; of any use only on a machine with nothing else to do)

require_relative "support/script"
require_relative "accuracy/suite"

Script.run("accuracy") { Accuracy::Suite.new(Accuracy::Options.parse(ARGV)).run }
