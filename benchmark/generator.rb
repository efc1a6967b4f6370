# frozen_string_literal: true

# What our own load generator costs beside wrk, and how late it sends on a machine that it shares with the server.
# Ends with status 1 when it misses one of its targets by more than the noise that was measured.
#
#   bin/exec rake generator    (9 minutes; of any use only on a machine with nothing else to do)

require_relative "support/script"
require_relative "generator/suite"

Script.run("generator") { GeneratorBenchmark::Suite.new(GeneratorBenchmark::Options.parse(ARGV)).run }
