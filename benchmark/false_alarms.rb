# frozen_string_literal: true

# How often does each way of comparing call a difference where there is none? Simulated machines, no servers: the truth is
# known. Ends with status 1 when ours does so more often than it promises, by more than chance in so many repeats.
#
#   bin/exec rake false_alarms    (a few minutes; the machine need not be quiet)

require_relative "support/script"
require_relative "false_alarms/suite"

RubyVM::YJIT.enable if defined?(RubyVM::YJIT.enable)

Script.run("false_alarms") { FalseAlarms::Suite.new(FalseAlarms::Options.parse(ARGV)).run }
