# frozen_string_literal: true

# For `puma_tuner prove --block`: one query an iteration. Variants differ in PATCHED=0 or 1 (or the names of patches).
#
#     ENGINE=classic QUERY=introspection bin/exec puma_tuner prove --block labs/06-graphql-today/blocks.rb \
#       --variant "gem:env.PATCHED=0" --variant "cured:env.PATCHED=1" --primary cpu_per_iteration
require_relative "workloads"
require_relative "patches"

GraphqlToday::Patches.load_named(ENV.fetch("PATCHED", "0"))
ask = GraphqlToday::Workloads.fetch(engine: ENV.fetch("ENGINE", "classic"), query: ENV.fetch("QUERY", "introspection"))

block("query") { ask.call }
