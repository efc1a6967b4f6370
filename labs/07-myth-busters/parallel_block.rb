# frozen_string_literal: true

# The same work twice: one after the other, in two threads, in two Ractors that are made for it, in two that are kept, and in two processes that are kept.
# What only the kept ones lack is making them; what the processes lack, too, is all that Ractors share.
require_relative "tarai"

Warning[:experimental] = false
UNITS = 3_000
WORK = -> { MythBusters::Tarai.burn(UNITS) }

# Answers each byte with another, when its work is done; ends when its parent does.
PROCESS = lambda do
  (asked, ask), (told, tell) = IO.pipe, IO.pipe
  fork do
    [ask, told].each(&:close)
    while asked.read(1)
      WORK.call
      tell.write("1")
    end
    exit!
  end
  [asked, tell].each(&:close)
  [ask, told]
end

block("in turn") { 2.times { WORK.call } }
block("two threads") { Array.new(2) { Thread.new { WORK.call } }.each(&:join) }
block("two Ractors") { Array.new(2) { Ractor.new { MythBusters::Tarai.burn(UNITS) } }.each(&:take) }
block("two Ractors, kept") do
  @ractors ||= Array.new(2) { Ractor.new { loop { Ractor.yield(MythBusters::Tarai.burn(Ractor.receive)) } } }
  @ractors.each { |ractor| ractor.send(UNITS) }.each(&:take)
end
block("two processes, kept") do
  @processes ||= Array.new(2) { PROCESS.call }
  @processes.each { |ask, _| ask.write("1") }.each { |_, told| told.read(1) }
end
