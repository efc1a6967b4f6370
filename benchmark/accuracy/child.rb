# frozen_string_literal: true

# One sample, in a process of its own: one workload under one tool. Prints one line of JSON.
#
#   ruby child.rb TOOL WORKLOAD SCALE

require "json"
require_relative "tools"
require_relative "workloads"

# The method by which samplers' stacks tell the watched thread from others.
def accuracy_watched = yield

$stdout.sync = true
workload = Accuracy::Workloads.load(ARGV[1]).new(scale: Float(ARGV[2]))
workload.start_processes
tool = Accuracy::Tools.entry(ARGV[0]).adapter
tool.prepare
# As in Puma, work is done by a thread that is not the main one, and was there before anything was asked of it.
line = Thread.new {
  workload.start_threads
  Accuracy::Stopwatch.new.then { |watch| [watch.open, watch.close] } # the first time takes longer
  GC.start
  sleep 0.02 # until the others stand at the gate
  # There already when it will be kept there, and free until then: what a tool starts may run anywhere.
  AccuracySpin.keep_first && AccuracySpin.roam
  reported = tool.around { workload.run }
  truth = workload.truth
  workload.stop
  {truth: truth.to_h, reported:, extras: tool.extras, version: Accuracy::Tools.entry(ARGV[0]).version}
}.value
puts "accuracy #{JSON.generate(line)}"
# A tool's own end is not what is tested here.
exit!(0)
