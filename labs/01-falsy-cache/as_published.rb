# frozen_string_literal: true

# The talk's own script, of which not a byte is changed: it comes from its author's repository (git=), fetched by set-up. It
# asks for the newest gems; here it has those of the talk's time, and what it hands to Benchmark.ips is measured in rounds.
require_relative "../support/gems"
LabGems.activate
require_relative "../support/old_graphql"
OldGraphql.prepare
$LOAD_PATH.unshift(File.join(__dir__, "stand_ins"))
require "concurrent/map"
require "graphql"

ENV["BENCHMARK_SECONDS"] = "1" # asks it for the comparison
begin
  load File.expand_path("bench.rb")
rescue SystemExit
  nil # as it ends then
end
