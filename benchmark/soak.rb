# frozen_string_literal: true

# Two servers side by side for an hour, the same app under the same load, one with the probe: what it makes a worker's memory grow by, and whether
# any request is lost or counted twice while things happen to them. `rake soak`; QUICK=1: three minutes. Ends with status 1 when a promise is broken.

require "optparse"
require "tmpdir"
require_relative "support/script"
require_relative "support/provenance"
require_relative "soak/pair"
require_relative "soak/page"

options = {minutes: (ENV["QUICK"] == "1") ? 3 : 60, seed: 1, write: false}
left = OptionParser.new("Usage: ruby -Ilib benchmark/soak.rb [options]") { |parser|
  parser.on("--minutes N", Float, "how long, default: 60; QUICK=1: 3") { |minutes| options[:minutes] = minutes }
  parser.on("--seed N", Integer, "of what happens when") { |seed| options[:seed] = seed }
  parser.on("--write", "write docs/reliability.md") { options[:write] = true }
}.parse(ARGV)
abort("soak: #{left.join(" ")} is no option; --help tells which there are") if left.any?

Script.run("soak") do
  machine = PumaTuner::Probe::MachineFacts.read
  pair = Soak::Pair.new(minutes: options[:minutes], seed: options[:seed], say: ->(text) { warn "soak: #{text}" })
  result = pair.run
  page = Soak::Page.of(result, command: "bin/exec rake soak#{" QUICK=1" if options[:minutes] <= 3}", provenance: Provenance.line(machine))
  File.write(File.expand_path("../docs/reliability.md", __dir__), page) if options[:write]
  puts page
  result.broken.empty? ? 0 : 1
end
