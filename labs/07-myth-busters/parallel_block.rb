# frozen_string_literal: true

# The same work twice: one after the other, in two threads, in two Ractors. (In two processes: the servers with two workers.)
require_relative "tarai"

Warning[:experimental] = false
UNITS = 3_000
WORK = -> { MythBusters::Tarai.burn(UNITS) }

block("in turn") { 2.times { WORK.call } }
block("two threads") { Array.new(2) { Thread.new { WORK.call } }.each(&:join) }
block("two Ractors") { Array.new(2) { Ractor.new { MythBusters::Tarai.burn(UNITS) } }.each(&:take) }
